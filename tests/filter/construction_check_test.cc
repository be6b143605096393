// Every change during the construction of a filter is found.
#include "src/filter/construction_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "builder_fault.h"
#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

constexpr std::uint64_t kKeys = 1000;

class ConstructionCheckTest : public testing::TestWithParam<FilterKind> {
 protected:
  ConstructionCheckTest() { AddNumbers(builder_, kKeys); }

  HashStore& Hashes() { return BuilderAccess::StateOf(builder_).Hashes(); }

  FilterBuilder builder_ = *FilterBuilder::Create({GetParam(), 10, 0, 0, kBlockBytesLimit, true});
};

INSTANTIATE_TEST_SUITE_P(Kinds, ConstructionCheckTest, testing::ValuesIn(FilterKinds()),
                         [](const auto& test) { return NameOf(test.param); });

void Flip(std::uint64_t& word, unsigned bit) { word ^= std::uint64_t{1} << bit; }

TEST_P(ConstructionCheckTest, SoundFiltersPass) {
  for (const std::uint64_t keys : {0U, 1U, 5U, 1000U, 40'000U}) {
    builder_.Clear();
    AddNumbers(builder_, keys);
    EXPECT_EQ(builder_.CheckHashes(), ConstructionFault::kNone);
    const FilterBlock block = builder_.Finish();
    EXPECT_EQ(builder_.KeyCount(), 0U);
    EXPECT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kNone);
  }
  // A block is checked once.
  AddNumbers(builder_, 1);
  const FilterBlock block = builder_.Finish();
  EXPECT_EQ(builder_.CheckBlock("another"), ConstructionFault::kBlock);
  EXPECT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kNone);
}

TEST_P(ConstructionCheckTest, EveryFlippedBitOfAHashIsFoundBeforeTheBuild) {
  HashStore& hashes = Hashes();
  for (const std::uint64_t number : {std::uint64_t{0}, kKeys / 2, kKeys - 1}) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      Flip(HashIn(hashes, number), bit);
      ASSERT_EQ(builder_.CheckHashes(), ConstructionFault::kHashes) << number << ' ' << bit;
      Flip(HashIn(hashes, number), bit);
    }
  }
  EXPECT_EQ(builder_.CheckHashes(), ConstructionFault::kNone);
  Flip(HashIn(hashes, 7), 33);
  builder_.Clear();  // forgets what was noted
  AddNumbers(builder_, 10);
  EXPECT_EQ(builder_.CheckHashes(), ConstructionFault::kNone);
}

// The block is then made of the wrong hash, and contains it.
TEST_P(ConstructionCheckTest, AHashThatFlipsAfterItsCheckIsFoundAfterTheBuild) {
  Flip(HashIn(Hashes(), 7), 33);
  const FilterBlock block = builder_.Finish();
  EXPECT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kHashes);
}

TEST_P(ConstructionCheckTest, EveryFlippedBitOfTheBlockIsFound) {
  builder_.Clear();
  constexpr std::uint64_t kFew = 100;
  AddNumbers(builder_, kFew);
  const std::size_t size = builder_.Plan().BlockBytes();
  for (std::size_t bit = 0; bit < size * 8; ++bit) {
    builder_.Clear();
    AddNumbers(builder_, kFew);
    FilterBlock block = builder_.Finish();
    char& byte = block.data[bit / 8];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    ASSERT_EQ(builder_.CheckBlock(block.bytes()), ConstructionFault::kBlock) << bit;
  }
}

TEST_P(ConstructionCheckTest, AKeyThatWasNotPutIntoTheBlockIsFound) {
  const FilterBlock block = builder_.Finish();
  const FilterView view(block.bytes());
  std::uint64_t absent = kKeys;
  while (view.MayContain(NumberKey(absent).text())) ++absent;

  ConstructionCheck check;
  HashStore hashes(Consumed::kKept);
  // The missing one lies in the first of two chunks.
  for (std::uint64_t key = 0; key < HashStore::kFewestChunkHashes + 5; ++key) {
    const std::uint64_t hash = HashKey(NumberKey(key == 3 ? absent : key).text(), 0);
    hashes.Append(hash);
    check.Note(hash);
  }
  ASSERT_EQ(hashes.ChunkCount(), 2U);
  check.Keep(hashes, block.bytes());
  EXPECT_TRUE(hashes.empty());
  EXPECT_EQ(check.CheckBlock(block.bytes()), ConstructionFault::kMissingKey);
}

TEST_P(ConstructionCheckTest, IsOffByDefaultAndMakesTheSameBlock) {
  FilterBuilder plain = *FilterBuilder::Create({GetParam(), 10});
  AddNumbers(plain, kKeys);
  std::uint64_t& hash = HashIn(BuilderAccess::StateOf(plain).Hashes(), 7);
  Flip(hash, 33);
  EXPECT_EQ(plain.CheckHashes(), ConstructionFault::kNone);
  Flip(hash, 33);
  const FilterBlock block = plain.Finish();
  EXPECT_EQ(std::string(block.bytes()), std::string(builder_.Finish().bytes()));
  EXPECT_EQ(plain.CheckBlock("another"), ConstructionFault::kNone);
}

}  // namespace
}  // namespace exactbloom::filter
