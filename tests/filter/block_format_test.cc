// The decoder and the view on bytes that no writer made: whatever they are, nothing outside them is
// read (which the address sanitizer watches: every block lies in an allocation of its exact size)
// and no key is declared absent.
#include "src/filter/block_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sample_filters.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

BlockStatus StatusOf(std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  return FilterView({copy.data(), copy.size()}).Status();
}

// Whether the view declares no key absent, asked one by one or in a batch.
bool MatchesEverything(std::string_view bytes) {
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const FilterView view({copy.data(), copy.size()});
  constexpr std::uint64_t kAsked = 64;
  return CountPassing(view, kAsked) == kAsked && view.MayContain("") &&
         view.FalsePositiveRate() == 1.0 && view.CountOnes() == 0;
}

constexpr std::uint64_t kKeys = 20;

// A typical geometry of the kind.
Geometry SampleGeometry(BloomKind kind) { return {kind, 200, kKeys, 7}; }

constexpr std::uint64_t kSalt = 5;

std::string SampleBlock(BloomKind kind, std::uint64_t hash_seed = kSalt) {
  const FilterBlock block = MakeBlock(SampleGeometry(kind), hash_seed, 0);
  return std::string(block.bytes());
}

std::string SampleBlock(FilterKind kind, std::uint64_t hash_seed = kSalt) {
  if (kind != FilterKind::kRibbon) return SampleBlock(ToBloomKind(kind), hash_seed);
  FilterBuilder builder = *FilterBuilder::Create({kind, 9.4, 0, hash_seed});
  AddNumbers(builder, 200);
  return std::string(builder.Finish().bytes());
}

std::string Mended(std::string block) {
  MendChecksum(block);
  return block;
}

// The block with another byte, and a checksum that fits.
std::string WithByte(std::string block, std::size_t from_end, unsigned value) {
  block[block.size() - from_end] = static_cast<char>(value);
  return Mended(std::move(block));
}

unsigned ByteOf(const std::string& block, std::size_t from_end) {
  return static_cast<unsigned char>(block[block.size() - from_end]);
}

class AnyBlock : public testing::TestWithParam<FilterKind> {
 protected:
  const std::string block_ = SampleBlock(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyBlock, testing::ValuesIn(FilterKinds()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(AnyBlock, EveryByteErrorOfTheTrailerMatchesEverything) {
  for (const std::string& block : {block_, SampleBlock(GetParam(), 0)}) {
    const std::size_t trailer_bytes = TrailerBytesOf(block);
    ASSERT_GE(trailer_bytes, kLeastTrailerBytes);
    for (std::size_t from_end = 1; from_end <= trailer_bytes; ++from_end) {
      for (unsigned change = 1; change < 256; ++change) {
        std::string damaged = block;
        damaged[block.size() - from_end] = static_cast<char>(ByteOf(block, from_end) ^ change);
        SCOPED_TRACE(testing::Message() << from_end << " from the end, change " << change);
        const BlockStatus expected = from_end == kVersionFromEnd ? BlockStatus::kUnknownVersion
                                     : from_end <= kMarkFromEnd  ? BlockStatus::kForeign
                                                                 : BlockStatus::kDamaged;
        ASSERT_EQ(StatusOf(damaged), expected);
        ASSERT_TRUE(MatchesEverything(damaged));
      }
    }
  }
}

// Another version may have its checksum elsewhere. A stock filter may end in the mark by chance,
// but has probes, and no checksum of ours.
TEST_P(AnyBlock, VersionAndProbesTellBlocksOfAnotherChecksumApart) {
  std::string other = block_;
  other[0] = static_cast<char>(~other[0]);
  other[other.size() - kChecksumFromEnd] = static_cast<char>(~ByteOf(block_, kChecksumFromEnd));
  for (const std::size_t from_end : {kVersionFromEnd, kZeroProbesFromEnd}) {
    const bool is_version = from_end == kVersionFromEnd;
    for (unsigned value = 0; value < 256; ++value) {
      if (value == ByteOf(block_, from_end)) continue;
      std::string block = other;
      block[block.size() - from_end] = static_cast<char>(value);
      EXPECT_EQ(StatusOf(block), is_version ? BlockStatus::kUnknownVersion : BlockStatus::kForeign)
          << value;
      EXPECT_TRUE(MatchesEverything(block)) << value;
    }
  }
}

TEST_P(AnyBlock, AnotherLengthMatchesEverything) {
  const auto expect = [](std::string_view bytes, BlockStatus status) {
    ASSERT_EQ(StatusOf(bytes), status) << bytes.size();
    ASSERT_TRUE(MatchesEverything(bytes)) << bytes.size();
  };
  for (std::size_t size = 0; size < block_.size(); ++size) {
    expect(std::string_view(block_).substr(0, size), BlockStatus::kForeign);
  }
  // Down to the five bytes that tell it is ours: a stock reader takes those as a filter of no keys.
  for (std::size_t cut = 1; cut <= block_.size(); ++cut) {
    const std::string_view rest = std::string_view(block_).substr(cut);
    const bool has_mark = rest.size() >= kZeroProbesFromEnd;
    expect(rest, has_mark ? BlockStatus::kDamaged : BlockStatus::kForeign);
  }
  for (std::size_t more = 1; more <= 192; ++more) {
    expect(std::string(more, 'x') + block_, BlockStatus::kDamaged);
  }
  expect(block_ + '\0', BlockStatus::kForeign);
  EXPECT_TRUE(FilterView(std::string_view()).MayContain("key"));
}

// Bytes of no writer, half of them with the last five of a block.
TEST(AnyBytes, MatchEverything) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 2 == 0) bytes += std::string("\0ExB\1", 5);
    EXPECT_EQ(StatusOf(bytes), i % 2 == 0 ? BlockStatus::kDamaged : BlockStatus::kForeign);
    EXPECT_TRUE(MatchesEverything(bytes));
  }
}

class BlockFormat : public testing::TestWithParam<BloomKind> {
 protected:
  static std::size_t BytesOfSampleArray() {
    return static_cast<std::size_t>(ArrayBytes(SampleGeometry(GetParam()).bits));
  }

  const std::string block_ = SampleBlock(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, BlockFormat, testing::ValuesIn(BloomKinds()),
                         [](const auto& test) { return NameOf(test.param); });

// Eleven bytes, those of the number of keys, and eight for a seed.
TEST(BlockFormatSizes, TrailersHaveNoMoreBytesThanTheyNeed) {
  EXPECT_EQ(TrailerBytes(0, 0), 11U);
  EXPECT_EQ(TrailerBytes(0, 1), 19U);
  for (std::size_t key_bytes = 1; key_bytes <= 8; ++key_bytes) {
    const std::uint64_t fewest = std::uint64_t{1} << (8 * (key_bytes - 1));
    for (const std::uint64_t keys : {fewest, fewest * 256 - 1}) {
      EXPECT_EQ(TrailerBytes(keys, 0), 11 + key_bytes) << keys;
      EXPECT_EQ(TrailerBytes(keys, 1), 19 + key_bytes) << keys;
    }
  }
  EXPECT_EQ(kMostTrailerBytes, TrailerBytes(~std::uint64_t{0}, 1));
}

TEST_P(BlockFormat, EveryDescriptionIsReadAsItWasWritten) {
  const Geometry geometry = SampleGeometry(GetParam());
  std::vector<std::uint64_t> numbers = {0};
  for (int shift = 0; shift < 64; ++shift) {
    numbers.push_back(std::uint64_t{1} << shift);
    numbers.push_back((std::uint64_t{1} << shift) * 2 - 1);
  }
  for (const std::uint64_t keys : numbers) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0} / 3}) {
      const BloomDescription written{geometry.kind, geometry.probes, geometry.bits, keys, seed};
      std::string block(static_cast<std::size_t>(BlockBytes(written)), '\xaa');
      EncodeTrailer(written, reinterpret_cast<unsigned char*>(block.data()));
      const DecodedBloom decoded = DecodeBloom(block);
      ASSERT_EQ(decoded.status, BlockStatus::kUsable) << keys;
      EXPECT_EQ(decoded.description.kind, geometry.kind);
      EXPECT_EQ(decoded.description.probes, geometry.probes);
      EXPECT_EQ(decoded.description.bits, geometry.bits);
      EXPECT_EQ(decoded.description.keys, keys);
      EXPECT_EQ(decoded.description.hash_seed, seed);
      EXPECT_EQ(reinterpret_cast<const char*>(decoded.array), block.data());
      const std::size_t array_bytes = block.size() - TrailerBytes(keys, seed);
      EXPECT_EQ(block.substr(0, array_bytes), std::string(array_bytes, '\xaa')) << "not ours";
    }
  }
}

// Fields that a careless, hostile or later writer might have written with a correct checksum.
TEST_P(BlockFormat, ReservedValuesMatchEverything) {
  const unsigned layout_byte = ByteOf(block_, kLayoutFromEnd);
  struct Case {
    std::size_t from_end;
    unsigned value;
    BlockStatus status = BlockStatus::kDamaged;
  };
  std::vector<Case> cases = {
      {kProbesFromEnd, 0}, {kProbesFromEnd, kMaxProbes + 1}, {kProbesFromEnd, 255}};
  for (unsigned key_bytes = kMostKeyBytes + 1; key_bytes <= kKeyBytesMask; ++key_bytes) {
    cases.push_back({kLayoutFromEnd, (layout_byte & ~kKeyBytesMask) | key_bytes});
  }
  constexpr unsigned kKinds = 8;
  for (unsigned kind = 2; kind < kKinds; ++kind) {
    const unsigned kind_bits = (kKinds - 1) << kKindShift;
    // The array of a Bloom filter is none of a Ribbon filter.
    cases.push_back({kLayoutFromEnd, (layout_byte & ~kind_bits) | kind << kKindShift,
                     kind == kRibbonKind ? BlockStatus::kDamaged : BlockStatus::kUnknownVersion});
  }
  for (const auto& [from_end, value, status] : cases) {
    const std::string block = WithByte(block_, from_end, value);
    EXPECT_EQ(StatusOf(block), status) << from_end << " from the end: " << value;
    EXPECT_TRUE(MatchesEverything(block)) << from_end << " from the end: " << value;
  }
}

// n and the seed in more bytes than a writer takes for them: nothing is wrong with that.
TEST_P(BlockFormat, LongerNumbersAreRead) {
  const std::string block = SampleBlock(GetParam(), 0);
  const std::string_view fixed = std::string_view(block).substr(block.size() - kLeastTrailerBytes);
  const std::string array = block.substr(0, BytesOfSampleArray());
  const unsigned layout_byte = ByteOf(block, kLayoutFromEnd);
  for (unsigned key_bytes = 1; key_bytes <= kMostKeyBytes; ++key_bytes) {
    std::string number(key_bytes, '\0');
    number[0] = static_cast<char>(kKeys);
    std::string longer = array + std::string(8, '\0') + number;
    longer += fixed;
    longer = WithByte(longer, kLayoutFromEnd,
                      (layout_byte & ~kKeyBytesMask) | key_bytes | kHashSeedFlag);
    const FilterView view(longer);
    ASSERT_EQ(view.Status(), BlockStatus::kUsable) << key_bytes;
    EXPECT_EQ(view.Description().keys, kKeys);
    EXPECT_EQ(view.Description().hash_seed, 0U);
    EXPECT_EQ(view.CountOnes(), FilterView(block).CountOnes());
  }
}

// Arrays that a kind does not allow, with a checksum that fits their length.
TEST_P(BlockFormat, ImpossibleGeometriesAreDamage) {
  const std::string trailer = block_.substr(BytesOfSampleArray());
  const auto expect = [&](std::size_t array_bytes, bool usable) {
    EXPECT_EQ(StatusOf(Mended(std::string(array_bytes, '\0') + trailer)),
              usable ? BlockStatus::kUsable : BlockStatus::kDamaged)
        << array_bytes;
  };
  expect(0, false);
  expect(1, true);  // as many bits as probes
  const std::string more = WithByte(std::string(1, '\0') + trailer, kProbesFromEnd, 9);
  const bool classic = GetParam() == BloomKind::kClassic;
  EXPECT_EQ(StatusOf(more), classic ? BlockStatus::kDamaged : BlockStatus::kUsable);
}

}  // namespace
}  // namespace exactbloom::filter
