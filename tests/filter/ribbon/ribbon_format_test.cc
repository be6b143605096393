// The decoder and the view of Ribbon filters on bytes that no writer made: whatever they are,
// nothing outside them is read (which the address sanitizer watches: every block lies in an
// allocation of its exact size). block_format_test.cc tests what all kinds have in common.
#include "src/filter/ribbon/ribbon_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/filter.h"
#include "sample_filters.h"

namespace exactbloom::filter {
namespace {

std::string SampleBlock(std::uint64_t keys, double bits_per_key = 9.4, std::uint64_t seed = 5) {
  FilterBuilder builder = *FilterBuilder::Create({FilterKind::kRibbon, bits_per_key, 0, seed});
  AddNumbers(builder, keys);
  return std::string(builder.Finish().bytes());
}

std::string Mended(std::string block) {
  MendChecksum(block);
  return block;
}

void ExpectPassing(const std::string& bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const FilterView view({copy.data(), copy.size()});
  ASSERT_EQ(view.Status(), BlockStatus::kDamaged);
  ASSERT_EQ(CountPassing(view, 100), 100U);
  ASSERT_EQ(view.FalsePositiveRate(), 1.0);
}

// With a checksum that fits: the columns must have exactly the bytes that the shape says.
TEST(RibbonFormat, ImpossibleShapesAreDamage) {
  const std::string block = SampleBlock(3000);
  const DecodedRibbon decoded = DecodeRibbon(block);
  ASSERT_EQ(decoded.status, BlockStatus::kUsable);
  const std::uint64_t column_bytes = decoded.shape.ColumnBytes();
  for (std::uint64_t less = 1; less <= column_bytes; ++less) {
    const DecodedRibbon cut = DecodeRibbon(Mended(block.substr(less)));
    if (cut.status == BlockStatus::kUsable) {
      ASSERT_EQ(cut.shape.ColumnBytes(), column_bytes - less);
    }
  }
  const auto changed = [&](auto change) {
    RibbonShape shape = decoded.shape;
    change(shape);
    std::string other = block;
    const std::string_view fields = std::string_view(block).substr(
        block.size() - RibbonTrailerBytes(decoded.keys, decoded.hash_seed));
    std::string encoded(fields);
    const std::uint64_t number =
        shape.slots | std::uint64_t{shape.shards} << 32 | std::uint64_t{shape.buckets} << 56;
    for (std::size_t i = 0; i < kShapeBytes; ++i) encoded[i] = static_cast<char>(number >> 8 * i);
    encoded[encoded.size() - kProbesFromEnd] = static_cast<char>(shape.columns);
    other.replace(block.size() - fields.size(), fields.size(), encoded);
    return Mended(other);
  };
  using Change = void (*)(RibbonShape&);
  for (const Change change :
       std::vector<Change>{[](RibbonShape& shape) { shape.slots = 0; },
                           [](RibbonShape& shape) { shape.slots = 56; },
                           [](RibbonShape& shape) { shape.slots += 4; },
                           [](RibbonShape& shape) { shape.slots = kMostSlots; },
                           [](RibbonShape& shape) { shape.shards = 0; },
                           [](RibbonShape& shape) { shape.shards = kMostShards; },
                           [](RibbonShape& shape) { shape.buckets = 0; },
                           [](RibbonShape& shape) { shape.buckets = kMostBuckets; },
                           [](RibbonShape& shape) { shape.columns += 1; },
                           [](RibbonShape& shape) { shape.columns -= 1; },
                           [](RibbonShape& shape) { shape.columns = 33; },
                           [](RibbonShape& shape) { shape.columns = 255; }}) {
    ASSERT_NO_FATAL_FAILURE(ExpectPassing(changed(change)));
  }
}

// Any records and columns, any shape whose lengths fit: nothing but the block is read.
TEST(RibbonFormat, HostileBlocksAreReadWithinTheBlock) {
  std::mt19937_64 random(1);
  const std::vector<std::string> samples = {SampleBlock(80, 14),     SampleBlock(200, 1.3),
                                            SampleBlock(1000),       SampleBlock(3000, 29.5),
                                            SampleBlock(30000, 1.1), SampleBlock(0)};
  std::size_t usable = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string block = samples[random() % samples.size()];
    const std::size_t trailer_bytes = TrailerBytesOf(block);
    for (std::size_t changes = 1 + random() % 8; changes-- > 0;) {
      const bool of_end = random() % 2 == 0;
      const std::size_t range = of_end ? std::min<std::size_t>(block.size(), 200) : block.size();
      block[block.size() - 1 - random() % range] = static_cast<char>(random());
    }
    // The mark and the version are mended, and sometimes the trailer's fields are.
    block.replace(block.size() - 5, 5, std::string("\0ExB\1", 5));
    if (i % 3 != 0) {
      const std::string& sample = samples[static_cast<std::size_t>(i) % samples.size()];
      if (sample.size() == block.size()) {
        block.replace(block.size() - trailer_bytes, trailer_bytes,
                      sample.substr(sample.size() - trailer_bytes));
      }
    }
    block = Mended(block);
    const std::vector<char> copy(block.begin(), block.end());
    const FilterView view({copy.data(), copy.size()});
    CountPassing(view, 300);
    const double rate = view.FalsePositiveRate();
    EXPECT_TRUE(rate >= 0.0 && rate <= 1.0) << rate;
    usable += view.Status() == BlockStatus::kUsable ? 1 : 0;
  }
  EXPECT_GT(usable, 300U);
}

}  // namespace
}  // namespace exactbloom::filter
