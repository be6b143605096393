// Filling an array range by range makes the same bytes as filling it key by key.
#include "src/filter/array_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/hash_store.h"
#include "src/filter/kernels/code_word.h"

namespace exactbloom::filter {
namespace {

HashStore StoreOf(const std::vector<std::uint64_t>& hashes) {
  HashStore store;
  for (const std::uint64_t hash : hashes) store.Append(hash);
  return store;
}

using Build = void (*)(unsigned char*, const BloomDescription&, HashStore&);

// Fills an array that held other bytes before.
std::string Built(Build build, const BloomDescription& filter,
                  const std::vector<std::uint64_t>& hashes) {
  HashStore store = StoreOf(hashes);
  std::string array(static_cast<std::size_t>(ArrayBytes(filter.bits)), '\xaa');
  build(reinterpret_cast<unsigned char*>(array.data()), filter, store);
  EXPECT_EQ(store.size(), 0U);
  return array;
}

class ArrayBuilder : public testing::TestWithParam<BloomKind> {
 protected:
  static BloomDescription FilterOf(std::uint64_t bytes, int probes) {
    BloomDescription filter;
    filter.kind = GetParam();
    filter.bits = bytes * 8;
    filter.probes = probes;
    return filter;
  }

  static void ExpectSameBytes(const BloomDescription& filter,
                              const std::vector<std::uint64_t>& hashes) {
    const std::string direct = Built(BuildArrayDirectly, filter, hashes);
    EXPECT_TRUE(direct == Built(BuildArrayByRange, filter, hashes));
    EXPECT_TRUE(direct == Built(BuildArray, filter, hashes));
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, ArrayBuilder, testing::ValuesIn(BloomKinds()),
                         [](const auto& test) { return NameOf(test.param); });

std::vector<std::uint64_t> RandomHashes(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

// Seven ranges, the last of them short; fewer with few keys.
constexpr std::uint64_t kManyRanges = (std::uint64_t{6} << kRangeBytesLog2) + 4160;

TEST_P(ArrayBuilder, MakesTheSameBytesByRange) {
  ExpectSameBytes(FilterOf(kManyRanges, 6), RandomHashes(900000));
  ExpectSameBytes(FilterOf(kManyRanges, 14), RandomHashes(100000));
  // So few keys that some ranges have none when the second pass begins and clears the array.
  for (const std::size_t keys : {0, 1, 2, 3, 8, 14, 30, 100}) {
    for (const int probes : {2, 6})
      ExpectSameBytes(FilterOf(kManyRanges, probes), RandomHashes(keys));
  }
  for (const std::uint64_t bytes : {std::uint64_t{128}, std::uint64_t{1} << 16}) {
    ExpectSameBytes(FilterOf(bytes, 6), RandomHashes(bytes));  // one range
  }
}

// Some ranges fill up long before the others.
TEST_P(ArrayBuilder, MakesTheSameBytesOfSkewedHashes) {
  std::vector<std::uint64_t> hashes = RandomHashes(100000);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (i % 4 != 0) hashes[i] >>= 8;
    if (i % 16 == 1) hashes[i] = ~hashes[i];
  }
  ExpectSameBytes(FilterOf(kManyRanges, 6), hashes);
}

TEST(HashStoreTest, HandsOutAllHashesInOrder) {
  for (const std::size_t count : {0, 1, 511, 512, 513, 1536, 1537, 100000}) {
    const std::vector<std::uint64_t> hashes = RandomHashes(count);
    HashStore store = StoreOf(hashes);
    ASSERT_EQ(store.size(), count);
    std::vector<std::uint64_t> taken;
    store.Consume([&](const std::uint64_t* chunk, std::size_t size) {
      taken.insert(taken.end(), chunk, chunk + size);
    });
    ASSERT_EQ(taken, hashes);
    ASSERT_TRUE(store.empty());
  }
}

// Positions of more bits than the 32 of an entry. On demand: EXACTBLOOM_TEST_LARGE=1 takes half a
// minute and 4 GiB of memory.
TEST_P(ArrayBuilder, MakesTheSameBytesOfPositionsBeyond32BitsOnDemand) {
  if (std::getenv("EXACTBLOOM_TEST_LARGE") == nullptr) {
    GTEST_SKIP() << "set EXACTBLOOM_TEST_LARGE to run it";
  }
  ExpectSameBytes(FilterOf((std::uint64_t{1} << 30) + 64, 6), RandomHashes(10'000'000));
}

}  // namespace
}  // namespace exactbloom::filter
