// The Ribbon kernels beside the definition of ribbon_equation.h, bit by bit: every number of
// columns, filters whose last block is whole or not, and the first and the last start.
#include "src/filter/kernels/ribbon_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "src/filter/kernels/kernel.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

// A filter of one shard of one bucket, whose columns are random. Its memory ends with its record,
// so that the address sanitizer sees what is read behind.
class RandomRibbon {
 public:
  RandomRibbon(std::uint32_t slots, std::uint32_t columns, std::uint32_t first_wide)
      : slots_(slots), first_wide_(first_wide), columns_(columns) {
    const std::uint32_t last_block = (slots - 1) / kRowBits;
    places_ = {columns, first_wide, last_block, (slots - kRowBits * last_block) / 8};
    const std::size_t record = ByteOf(slots - 1, ColumnsOf(slots - 1) - 1) + 1;
    bytes_.resize(record + RecordBytes(1));
    std::mt19937 random(slots + 100 * columns);
    std::generate_n(bytes_.begin(), record, [&] { return static_cast<unsigned char>(random()); });
    bytes_[record + kStartCountOffset] = static_cast<unsigned char>(slots - kRowBits + 1);
    bytes_[record + kStartCountOffset + 1] =
        static_cast<unsigned char>((slots - kRowBits + 1) >> 8);
  }

  PreparedRibbon Prepare() const {
    return {bytes_.data(),
            bytes_.data() + bytes_.size() - RecordBytes(1),
            1,
            InverseOfBuckets(1),
            1,
            slots_ - kRowBits,
            places_,
            0,
            kLowFlip,
            kHighFlip};
  }

  std::uint32_t StartOf(std::uint64_t hash) const {
    return static_cast<std::uint32_t>((hash >> 32) * (slots_ - kRowBits + 1) >> 32);
  }

  std::uint32_t ColumnsOf(std::uint32_t slot) const {
    return columns_ + (slot / kRowBits >= first_wide_ ? 1 : 0);
  }

  void Flip(std::uint32_t slot, std::uint32_t column) {
    bytes_[ByteOf(slot, column)] ^= static_cast<unsigned char>(1U << slot % 8);
  }

  // The first coefficient is 1, so that the slot where the key starts decides.
  void MakeHold(std::uint64_t hash) {
    const std::uint32_t start = StartOf(hash);
    for (std::uint32_t column = 0; column < ColumnsOf(start); ++column) {
      bool sum = false;
      for (std::uint32_t i = 0; i < kRowBits; ++i) {
        if ((Coefficients(hash) >> i & 1) != 0) sum ^= Bit(start + i, column);
      }
      if (sum != ((Results(hash) >> column & 1) != 0)) Flip(start, column);
    }
  }

 private:
  bool Bit(std::uint32_t slot, std::uint32_t column) const {
    return (bytes_[ByteOf(slot, column)] >> slot % 8 & 1) != 0;
  }

  std::size_t ByteOf(std::uint32_t slot, std::uint32_t column) const {
    const std::uint32_t block = slot / kRowBits;
    std::size_t words = 0;
    for (std::uint32_t before = 0; before < block; ++before) words += ColumnsOf(before * kRowBits);
    const std::size_t bytes =
        block == places_.last_block ? places_.last_bytes : sizeof(std::uint64_t);
    return sizeof(std::uint64_t) * words + column * bytes + slot % kRowBits / 8;
  }

  std::uint32_t slots_;
  std::uint32_t first_wide_;
  std::uint32_t columns_;
  ColumnPlaces places_;
  std::vector<unsigned char> bytes_;
};

bool Contains(const RibbonKernel& kernel, const RandomRibbon& ribbon, std::uint64_t hash) {
  bool contained = false;
  kernel.may_contain_batch(ribbon.Prepare(), &hash, 1, &contained);
  return contained;
}

// The results of a hash have 32 bits, one for each column that there can be.
void ExpectMissByAnySingleColumn(const RibbonKernel& kernel, RandomRibbon& ribbon,
                                 std::uint64_t hash) {
  const std::uint32_t start = ribbon.StartOf(hash);
  ribbon.MakeHold(hash);
  ASSERT_TRUE(Contains(kernel, ribbon, hash)) << start;
  for (std::uint32_t column = 0; column < ribbon.ColumnsOf(start); ++column) {
    ribbon.Flip(start, column);
    ASSERT_FALSE(Contains(kernel, ribbon, hash)) << start << " column " << column;
    ribbon.Flip(start, column);
  }
}

class RibbonKernelTest : public testing::TestWithParam<InstructionSet> {};

INSTANTIATE_TEST_SUITE_P(Sets, RibbonKernelTest, testing::ValuesIn(AvailableInstructionSets()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(RibbonKernelTest, AnswersAsTheDefinitionAndMissesByAnySingleColumn) {
  const RibbonKernel& kernel = GetParam().ribbon_kernel();
  for (const std::uint32_t slots : {64U, 72U, 120U, 128U, 136U, 320U, 1032U}) {
    for (std::uint32_t columns = 1; columns < kMostColumns; ++columns) {
      RandomRibbon ribbon(slots, columns, slots / kRowBits / 2);
      SCOPED_TRACE(testing::Message() << slots << " slots, " << columns << " columns");
      std::mt19937_64 random(columns);
      for (int i = 0; i < 30; ++i) {
        ASSERT_NO_FATAL_FAILURE(ExpectMissByAnySingleColumn(kernel, ribbon, random()));
      }
      for (const std::uint64_t hash : {std::uint64_t{0}, ~std::uint64_t{0}}) {
        ASSERT_NO_FATAL_FAILURE(ExpectMissByAnySingleColumn(kernel, ribbon, hash));
      }
    }
  }
}

// One by one, by the key itself.
TEST_P(RibbonKernelTest, AnswersKeysOfAnyLengthAsTheirHashes) {
  const RibbonKernel& kernel = GetParam().ribbon_kernel();
  for (std::uint32_t columns = 1; columns < kMostColumns; ++columns) {
    RandomRibbon ribbon(328, columns, 3);
    for (std::size_t size = 0; size < 40; ++size) {
      const std::string key(size, static_cast<char>(columns));
      const std::uint64_t hash = HashKey(key, 0);
      const PreparedRibbon prepared = ribbon.Prepare();
      ASSERT_EQ(kernel.may_contain(&prepared, key), Contains(kernel, ribbon, hash));
      ribbon.MakeHold(hash);
      ASSERT_TRUE(kernel.may_contain(&prepared, key)) << columns << " columns, " << size;
    }
  }
}

}  // namespace
}  // namespace exactbloom::filter
