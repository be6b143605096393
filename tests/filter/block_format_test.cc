// The decoder and the view on bytes that no writer made: whatever they are, nothing outside them is
// read (which the address sanitizer watches: every block lies in an allocation of its exact size)
// and no key is declared absent.
#include "filter/block_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "filter/kernels/key_hash.h"
#include "sample_filters.h"

namespace exactbloom::filter {
namespace {

// A copy of some bytes that ends where its allocation ends and starts `shift` bytes into it.
class ExactCopy {
 public:
  explicit ExactCopy(std::string_view bytes, std::size_t shift = 0)
      : data_(new char[shift + bytes.size()]), shift_(shift), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), data_.get() + shift_);
  }

  std::string_view bytes() const { return {data_.get() + shift_, size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t shift_;
  std::size_t size_;
};

BlockStatus StatusOf(std::string_view bytes) {
  const ExactCopy copy(bytes);
  return BloomFilterView(copy.bytes()).Status();
}

// Whether the view declares no key absent, asked one by one or in a batch.
bool MatchesEverything(std::string_view bytes) {
  const ExactCopy copy(bytes);
  const BloomFilterView view(copy.bytes());
  constexpr std::size_t kAsked = 64;
  std::vector<NumberKey> numbers;
  std::vector<std::string_view> keys;
  for (std::uint64_t number = 0; number < kAsked; ++number) numbers.emplace_back(number);
  for (const NumberKey& number : numbers) keys.push_back(number.text());
  std::array<bool, kAsked> results{};
  view.MayContain(keys.data(), keys.size(), results.data());
  return std::count(results.begin(), results.end(), true) == kAsked &&
         std::all_of(keys.begin(), keys.end(), [&](auto key) { return view.MayContain(key); }) &&
         view.MayContain("") && view.CountOnes() == 0;
}

constexpr std::uint64_t kKeys = 20;

// A typical geometry of the layout; for two lines k is even.
Geometry SampleGeometry(Layout layout) {
  if (!layout.InLines()) return {layout, 200, kKeys, 7};
  return {layout, 3 * kLineBits, kKeys, 6};
}

std::string SampleBlock(Layout layout) {
  const FilterBlock block = MakeBlock(SampleGeometry(layout), 5, 0);
  return std::string(block.bytes());
}

// The sample with one byte of its trailer changed and the checksum corrected.
std::string WithTrailerByte(std::string block, std::size_t offset, unsigned char value) {
  char* trailer = block.data() + block.size() - kTrailerBytes;
  trailer[offset] = static_cast<char>(value);
  const std::uint64_t checksum = HashKey({trailer, kChecksumOffset}, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    trailer[kChecksumOffset + i] = static_cast<char>(checksum >> (8 * i));
  }
  return block;
}

std::string WithBits(std::string block, std::uint64_t bits) {
  for (std::size_t i = 0; i < 8; ++i) {
    block = WithTrailerByte(block, kBitsOffset + i, static_cast<unsigned char>(bits >> (8 * i)));
  }
  return block;
}

class BlockFormat : public testing::TestWithParam<Layout> {
 protected:
  const std::string block_ = SampleBlock(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, BlockFormat, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(BlockFormat, SampleIsUsableAtEveryAlignment) {
  for (std::size_t shift = 0; shift < 64; ++shift) {
    const ExactCopy copy(block_, shift);
    const BloomFilterView view(copy.bytes());
    ASSERT_EQ(view.Status(), BlockStatus::kUsable);
    for (std::uint64_t number = 0; number < kKeys; ++number) {
      ASSERT_TRUE(view.MayContain(NumberKey(number).text()));
    }
    std::uint64_t refused = 0;
    for (std::uint64_t number = 100; number < 200; ++number) {
      if (!view.MayContain(NumberKey(number).text())) ++refused;
    }
    ASSERT_GT(refused, 90U);
  }
}

TEST_P(BlockFormat, EveryByteErrorOfTheTrailerMatchesEverything) {
  for (std::size_t offset = 0; offset < kTrailerBytes; ++offset) {
    for (int change = 1; change < 256; ++change) {
      std::string damaged = block_;
      char& byte = damaged[damaged.size() - kTrailerBytes + offset];
      byte = static_cast<char>(byte ^ change);
      SCOPED_TRACE(testing::Message() << "offset " << offset << " change " << change);
      const BlockStatus expected = offset == kVersionOffset ? BlockStatus::kUnknownVersion
                                   : offset >= kMarkOffset  ? BlockStatus::kForeign
                                                            : BlockStatus::kDamaged;
      ASSERT_EQ(StatusOf(damaged), expected);
      ASSERT_TRUE(MatchesEverything(damaged));
    }
  }
}

TEST_P(BlockFormat, TruncatedAtTheEndMatchesEverything) {
  for (std::size_t size = 0; size < block_.size(); ++size) {
    const std::string_view rest = std::string_view(block_).substr(0, size);
    ASSERT_EQ(StatusOf(rest), BlockStatus::kForeign) << size;
    ASSERT_TRUE(MatchesEverything(rest)) << size;
  }
}

TEST_P(BlockFormat, TruncatedAtTheFrontMatchesEverything) {
  for (std::size_t cut = 1; cut <= block_.size(); ++cut) {
    const std::string_view rest = std::string_view(block_).substr(cut);
    const bool trailer_is_whole = rest.size() >= kTrailerBytes;
    ASSERT_EQ(StatusOf(rest), trailer_is_whole ? BlockStatus::kWrongSize : BlockStatus::kForeign);
    ASSERT_TRUE(MatchesEverything(rest)) << cut;
  }
}

TEST_P(BlockFormat, LengthenedMatchesEverything) {
  EXPECT_EQ(StatusOf("x" + block_), BlockStatus::kWrongSize);
  EXPECT_TRUE(MatchesEverything("x" + block_));
  EXPECT_EQ(StatusOf(block_ + '\0'), BlockStatus::kForeign);
  EXPECT_TRUE(MatchesEverything(block_ + '\0'));
}

// Fields that a careless or hostile writer might have written with a correct checksum.
TEST_P(BlockFormat, ReservedValuesAreDamage) {
  struct Case {
    std::size_t offset;
    unsigned char value;
  };
  for (const auto& [offset, value] : std::vector<Case>{{kKindOffset, 2},
                                                       {kKindOffset, 255},
                                                       {kLinesOffset, kMaxLines + 1},
                                                       {kLinesOffset, 255},
                                                       {kProbesOffset, 0},
                                                       {kProbesOffset, kMaxProbes + 1},
                                                       {kProbesOffset, 255},
                                                       {kPadOffset, kMaxPad + 1},
                                                       {kPadOffset, 255},
                                                       {kReservedOffset, 1},
                                                       {kReservedOffset + 1, 1},
                                                       {kReservedOffset + 2, 128}}) {
    const std::string block = WithTrailerByte(block_, offset, value);
    EXPECT_EQ(StatusOf(block), BlockStatus::kDamaged) << "offset " << offset << " value " << +value;
    EXPECT_TRUE(MatchesEverything(block)) << "offset " << offset << " value " << +value;
  }
}

TEST_P(BlockFormat, AbsurdSizesAreWrong) {
  const std::uint64_t bits = SampleGeometry(GetParam()).bits;
  const std::uint64_t step = GetParam().InLines() ? kLineBits : 8;
  for (const std::uint64_t wrong :
       {bits - step, bits + step, std::uint64_t{1} << 32, std::uint64_t{1} << 35,
        std::uint64_t{1} << 63, ~std::uint64_t{0} - (step - 1)}) {
    const std::string block = WithBits(block_, wrong);
    EXPECT_EQ(StatusOf(block), BlockStatus::kWrongSize) << wrong;
    EXPECT_TRUE(MatchesEverything(block)) << wrong;
  }
  EXPECT_EQ(StatusOf(WithBits(block_, 0)), BlockStatus::kDamaged);
}

// Geometries that a layout does not allow, whatever the size of the block.
TEST_P(BlockFormat, ImpossibleGeometriesAreDamage) {
  const int lines = GetParam().Lines();
  if (lines == 0) {
    const bool classic = GetParam().kind == FilterKind::kClassic;
    EXPECT_EQ(StatusOf(WithBits(block_, 6)),
              classic ? BlockStatus::kDamaged : BlockStatus::kWrongSize);
    EXPECT_EQ(StatusOf(WithBits(block_, 201)), BlockStatus::kWrongSize);
    EXPECT_EQ(StatusOf(WithBits(block_, ~std::uint64_t{0})), BlockStatus::kWrongSize);
    return;
  }
  for (const std::uint64_t bits : {std::uint64_t{8}, 3 * kLineBits - 8, 3 * kLineBits + 8,
                                   (std::uint64_t{1} << 35) + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(StatusOf(WithBits(block_, bits)), BlockStatus::kDamaged) << bits;
    EXPECT_TRUE(MatchesEverything(WithBits(block_, bits))) << bits;
  }
  const std::string odd = WithTrailerByte(block_, kProbesOffset, 7);
  EXPECT_EQ(StatusOf(odd), lines == 2 ? BlockStatus::kDamaged : BlockStatus::kUsable);
  const std::string one_line =
      WithBits(block_.substr(2 * kLineBits / 8), kLineBits);  // an array of one line
  EXPECT_EQ(StatusOf(one_line), lines == 2 ? BlockStatus::kDamaged : BlockStatus::kUsable);
}

// Every readable number of pad bytes moves the array, and only that.
TEST_P(BlockFormat, PaddedBlocksAnswerTheSame) {
  const BloomFilterView plain(block_);
  for (unsigned pad = 1; pad <= kMaxPad; ++pad) {
    const std::string padded = WithTrailerByte(std::string(pad, '\xff') + block_, kPadOffset,
                                               static_cast<unsigned char>(pad));
    const ExactCopy copy(padded);
    const BloomFilterView view(copy.bytes());
    ASSERT_EQ(view.Status(), BlockStatus::kUsable);
    ASSERT_EQ(view.CountOnes(), plain.CountOnes());
    for (std::uint64_t number = 0; number < 1000; ++number) {
      const NumberKey key(number);
      ASSERT_EQ(view.MayContain(key.text()), plain.MayContain(key.text()));
    }
  }
}

// The array itself carries no checksum (RocksDB's blocks have one): whatever its bytes are, queries
// stay inside.
TEST_P(BlockFormat, RandomArraysAreReadWithinBounds) {
  std::mt19937_64 random(1);
  const int lines = GetParam().Lines();
  const std::vector<std::uint64_t> sizes =
      lines == 0 ? std::vector<std::uint64_t>{7, 8, 9, 63, 64, 65, 1000}
                 : std::vector<std::uint64_t>{2 * kLineBits, 3 * kLineBits, 129 * kLineBits};
  const int step = std::max(lines, 1);
  for (const std::uint64_t bits : sizes) {
    for (int probes = step; probes <= std::min<int>(static_cast<int>(bits), kMaxProbes);
         probes += step) {
      std::string block(MakeBlock({GetParam(), bits, 0, probes}, random(), 0).bytes());
      const std::size_t array_bytes = block.size() - kTrailerBytes;
      std::fill_n(block.begin(), array_bytes, '\xff');
      const ExactCopy copy(block);
      const BloomFilterView view(copy.bytes());
      ASSERT_EQ(view.Status(), BlockStatus::kUsable);
      EXPECT_EQ(view.CountOnes(), bits) << "bits behind the last position do not count";
      for (std::uint64_t number = 0; number < 100; ++number) {
        ASSERT_TRUE(view.MayContain(NumberKey(number).text()));
      }
    }
  }
}

// Random trailers that carry the mark, half of them with a checksum that fits.
TEST(BlockFormatRandom, RandomTrailersAreReadWithinBounds) {
  std::mt19937_64 random(3);
  int usable = 0;
  for (int round = 0; round < 100000; ++round) {
    std::string block =
        SampleBlock({random() % 2 == 0 ? FilterKind::kClassic : FilterKind::kStandard,
                     static_cast<int>(random() % 3)});
    for (std::uint64_t changes = random() % 3; changes > 0; --changes) {
      const std::size_t offset = random() % kChecksumOffset;
      block = WithTrailerByte(block, offset, static_cast<unsigned char>(random() % 80));
    }
    const ExactCopy copy(block);
    const BloomFilterView view(copy.bytes());
    usable += view.Status() == BlockStatus::kUsable ? 1 : 0;
    if (view.Status() != BlockStatus::kUsable) {
      ASSERT_TRUE(MatchesEverything(block));
    }
    for (std::uint64_t number = 0; number < 20; ++number) {
      view.MayContain(NumberKey(number).text());
    }
  }
  EXPECT_GT(usable, 10000);
}

TEST(BlockFormatRandom, EmptyAndNullBytesMatchEverything) {
  EXPECT_TRUE(MatchesEverything({}));
  EXPECT_TRUE(BloomFilterView(std::string_view()).MayContain("key"));
}

}  // namespace
}  // namespace exactbloom::filter
