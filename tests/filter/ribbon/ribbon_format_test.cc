// The decoder and the view of Ribbon filters on bytes that no writer made: whatever they are,
// nothing outside them is read (which the address sanitizer watches: every block lies in an
// allocation of its exact size), and a block that is not usable declares no key absent.
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
  FilterOptions options;
  options.bits_per_key = bits_per_key;
  options.hash_seed = seed;
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(NumberKey(i).text());
  return std::string(builder.Finish().bytes());
}

std::string Mended(std::string block) {
  MendChecksum(block);
  return block;
}

struct Answers {
  BlockStatus status;
  std::size_t contained;
  double rate;
};

constexpr std::size_t kAsked = 300;

Answers AnswersOf(std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const FilterView view({copy.data(), copy.size()});
  std::vector<NumberKey> numbers;
  std::vector<std::string_view> keys;
  for (std::uint64_t number = 0; number < kAsked; ++number) numbers.emplace_back(number);
  for (const NumberKey& number : numbers) keys.push_back(number.text());
  bool results[kAsked];
  view.MayContain(keys.data(), kAsked, results);
  for (std::size_t i = 0; i < kAsked; ++i) EXPECT_EQ(view.MayContain(keys[i]), results[i]) << i;
  return {view.Status(), static_cast<std::size_t>(std::count(results, results + kAsked, true)),
          view.FalsePositiveRate()};
}

void ExpectPassing(std::string_view bytes, BlockStatus status) {
  const Answers answers = AnswersOf(bytes);
  ASSERT_EQ(answers.status, status);
  ASSERT_EQ(answers.contained, kAsked);
  ASSERT_EQ(answers.rate, 1.0);
}

TEST(RibbonFormat, OneKindsViewTakesNoOthersBlock) {
  const std::string ribbon = SampleBlock(1000);
  EXPECT_EQ(FilterView(ribbon).Status(), BlockStatus::kOtherKind);
  EXPECT_TRUE(FilterView(ribbon).MayContain("absent"));
  const FilterBlock bloom = MakeBlock({BloomKind::kClassic, 10000, 1000, 7}, 0, 0);
  ExpectPassing(bloom.bytes(), BlockStatus::kOtherKind);
}

TEST(RibbonFormat, EveryByteErrorOfTheTrailerLetsAllPass) {
  const std::string block = SampleBlock(500);
  const std::size_t trailer_bytes = RibbonTrailerBytes(500, 5);
  ASSERT_EQ(TrailerBytesOf(block), trailer_bytes);
  for (std::size_t from_end = 1; from_end <= trailer_bytes; ++from_end) {
    for (unsigned change = 1; change < 256; ++change) {
      std::string damaged = block;
      char& byte = damaged[block.size() - from_end];
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ change);
      SCOPED_TRACE(testing::Message() << from_end << " from the end, change " << change);
      ASSERT_NO_FATAL_FAILURE(
          ExpectPassing(damaged, from_end == kVersionFromEnd ? BlockStatus::kUnknownVersion
                                 : from_end <= kMarkFromEnd  ? BlockStatus::kForeign
                                                             : BlockStatus::kDamaged));
    }
  }
}

TEST(RibbonFormat, AnotherLengthLetsAllPass) {
  const std::string block = SampleBlock(300);
  for (std::size_t size = 0; size < block.size(); ++size) {
    ASSERT_NO_FATAL_FAILURE(ExpectPassing(block.substr(0, size), BlockStatus::kForeign));
    ASSERT_NO_FATAL_FAILURE(
        ExpectPassing(block.substr(size + 1), block.size() - size - 1 >= kZeroProbesFromEnd
                                                  ? BlockStatus::kDamaged
                                                  : BlockStatus::kForeign));
  }
  for (std::size_t more = 1; more <= 100; ++more) {
    const std::string longer = std::string(more, 'x') + block;
    ASSERT_NO_FATAL_FAILURE(ExpectPassing(longer, BlockStatus::kDamaged));
  }
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
    ASSERT_NO_FATAL_FAILURE(ExpectPassing(changed(change), BlockStatus::kDamaged));
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
    usable += AnswersOf(block).status == BlockStatus::kUsable ? 1 : 0;
  }
  EXPECT_GT(usable, 300U);
}

}  // namespace
}  // namespace exactbloom::filter
