// Every instruction set's kernels against the definition of code words: the same bits set, the same
// answers, at any alignment.
#include "src/filter/kernels/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sample_filters.h"
#include "src/filter/block_format.h"
#include "src/filter/kernels/code_word.h"
#include "src/filter/kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

// An array that begins `shift` bytes into an allocation and is followed by what a block has behind
// its array: the address sanitizer sees what lies outside the block.
class Array {
 public:
  Array(std::uint64_t bits, std::size_t shift)
      : shift_(shift),
        memory_(shift + static_cast<std::size_t>(ArrayBytes(bits)) + kLeastTrailerBytes) {}

  unsigned char* data() { return memory_.data() + shift_; }
  // With the zeros behind the array.
  std::string bytes() { return {data(), memory_.data() + memory_.size()}; }

 private:
  std::size_t shift_;
  std::vector<unsigned char> memory_;
};

CodeWord WordOf(const BloomDescription& filter, std::uint64_t hash) {
  return MakeCodeWord(filter.kind, hash, filter.bits, filter.probes);
}

bool ContainsByDefinition(const unsigned char* array, const BloomDescription& filter,
                          std::uint64_t hash) {
  const CodeWord word = WordOf(filter, hash);
  return std::all_of(word.positions.begin(), word.positions.begin() + word.size,
                     [&](std::uint64_t position) { return TestBit(array, position); });
}

bool MayContain(const Kernel& kernel, const unsigned char* array, const BloomDescription& filter,
                std::uint64_t hash) {
  bool answer = false;
  kernel.may_contain_batch(array, filter, &hash, 1, &answer);
  return answer;
}

// Random hashes, and those with the most unusual code words.
std::vector<std::uint64_t> SampleHashes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  while (hashes.size() < count) hashes.push_back(random());
  hashes.resize(count);
  return hashes;
}

InstructionSet TestedSet(const std::string& name) {
  const std::vector<InstructionSet> sets = AvailableInstructionSets();
  return *std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.name == name; });
}

class KernelTest : public testing::TestWithParam<std::tuple<std::string, BloomKind>> {
 protected:
  const InstructionSet set_ = TestedSet(std::get<0>(GetParam()));
  const BloomKind kind_ = std::get<1>(GetParam());

  // Every possible geometry with every number of probes that has code of its own, and some of those
  // that share the code for many probes.
  template <typename Check>
  void ForEachGeometry(Check check) const {
    // Some have bits behind the last whole byte.
    for (const std::uint64_t bits : {1, 2, 9, 64, 73, 100, 1000, 65537}) {
      for (int probes = 1; probes <= kMaxProbes; ++probes) {
        constexpr int kMostOfTheirOwn = 20;
        if (probes > kMostOfTheirOwn && probes % 8 > 1) continue;
        if (!Admits(kind_, bits, probes)) continue;
        BloomDescription filter;
        filter.kind = kind_;
        filter.probes = probes;
        filter.bits = bits;
        filter.hash_seed = probes % 2 == 0 ? 0 : 0x9d2c5680a1b2c3d4U * bits;
        SCOPED_TRACE(testing::Message() << "m=" << bits << " k=" << probes);
        check(filter);
      }
    }
  }
};

std::vector<std::string> NamesOf(const std::vector<InstructionSet>& sets) {
  std::vector<std::string> names;
  for (const InstructionSet& set : sets) names.emplace_back(set.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Sets, KernelTest,
                         testing::Combine(testing::ValuesIn(NamesOf(AvailableInstructionSets())),
                                          testing::ValuesIn(BloomKinds())),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + NameOf(std::get<1>(test.param));
                         });

TEST_P(KernelTest, SetsTheBitsOfTheDefinition) {
  ForEachGeometry([&](const BloomDescription& filter) {
    const Kernel& kernel = set_.kernel_for(filter);
    const std::size_t shift = filter.bits % 61;
    const std::vector<std::uint64_t> hashes =
        SampleHashes(2 + filter.bits / static_cast<std::uint64_t>(filter.probes), filter.bits);
    Array built(filter.bits, shift);
    Array expected(filter.bits, 0);
    AddKeys(kernel, built.data(), filter, hashes.data(), hashes.size());
    for (const std::uint64_t hash : hashes) AddWord(expected.data(), WordOf(filter, hash));
    ASSERT_EQ(built.bytes(), expected.bytes());
  });
}

// Filters so full that most words of k bits hit, and of those that miss, most miss by one bit.
TEST_P(KernelTest, AnswersAsTheDefinition) {
  ForEachGeometry([&](const BloomDescription& filter) {
    const Kernel& kernel = set_.kernel_for(filter);
    std::mt19937_64 random(filter.bits);
    Array array(filter.bits, filter.bits % 59);
    for (std::uint64_t p = 0; p < filter.bits; ++p) {
      if (random() % static_cast<std::uint64_t>(filter.probes + 1) != 0) SetBit(array.data(), p);
    }
    std::vector<std::uint64_t> hashes = SampleHashes(200, filter.bits + 1);
    for (std::size_t i = 0; i < hashes.size(); i += 3) {
      AddWord(array.data(), WordOf(filter, hashes[i]));
    }
    std::array<bool, kBatchKeys> batch;
    for (std::uint64_t number = 0; number < 200; ++number) {
      // Keys are hashed in different ways by their length, and with a seed.
      std::string key(NumberKey(number).text());
      key.resize(number % 70, 'k');
      const std::uint64_t hash = HashKey(key, filter.hash_seed);
      const PreparedFilter prepared = Prepare(array.data(), filter);
      ASSERT_EQ(kernel.may_contain(&prepared, key),
                ContainsByDefinition(array.data(), filter, hash));
    }
    for (std::size_t i = 0; i < hashes.size(); i += kBatchKeys) {
      const std::size_t count = std::min(kBatchKeys, hashes.size() - i);
      kernel.may_contain_batch(array.data(), filter, &hashes[i], count, batch.data());
      for (std::size_t j = 0; j < count; ++j) {
        ASSERT_EQ(batch[j], ContainsByDefinition(array.data(), filter, hashes[i + j]));
      }
    }
  });
}

// One key at a time, so that a wrong bit is not hidden by other keys' bits. Each of its bits is
// missed, one that replaces an equal draw as well.
TEST_P(KernelTest, SetsTheBitsOfEachKeyAndMissesByAnySingleOne) {
  ForEachGeometry([&](const BloomDescription& filter) {
    if (filter.bits > 1000) return;
    const Kernel& kernel = set_.kernel_for(filter);
    for (std::uint64_t number = 0; number < 60; ++number) {
      const std::string key(NumberKey(number).text());
      const std::uint64_t hash = HashKey(key, filter.hash_seed);
      Array built(filter.bits, 1);
      Array expected(filter.bits, 1);
      AddKeys(kernel, built.data(), filter, &hash, 1);
      AddWord(expected.data(), WordOf(filter, hash));
      ASSERT_EQ(built.bytes(), expected.bytes()) << number;
      const PreparedFilter prepared = Prepare(built.data(), filter);
      ASSERT_TRUE(MayContain(kernel, built.data(), filter, hash)) << number;
      ASSERT_TRUE(kernel.may_contain(&prepared, key)) << number;
      const CodeWord word = WordOf(filter, hash);
      for (std::size_t i = 0; filter.probes <= 20 && i < static_cast<std::size_t>(word.size); ++i) {
        const std::uint64_t position = word.positions[i];
        unsigned char& byte = built.data()[position / 8];
        byte = static_cast<unsigned char>(byte & ~(1U << (position % 8)));
        ASSERT_FALSE(MayContain(kernel, built.data(), filter, hash)) << number << ' ' << i;
        ASSERT_FALSE(kernel.may_contain(&prepared, key)) << number << ' ' << i;
        SetBit(built.data(), position);
      }
    }
  });
}

// Positions of 32 bits and of more. The array is untouched memory, so it takes only the pages of a
// few keys, and is so nearly empty that no other key is contained.
TEST_P(KernelTest, LargeFiltersHaveTheBitsOfTheDefinition) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 32;
  using Memory = std::unique_ptr<unsigned char, decltype(&std::free)>;
  for (const std::uint64_t bits : {kLimit - 12288, kLimit + 12288}) {
    const Memory array(
        static_cast<unsigned char*>(std::calloc(1, ArrayBytes(bits) + kLeastTrailerBytes)),
        &std::free);
    ASSERT_NE(array, nullptr);
    std::mt19937_64 random(32);
    for (const int probes : {2, 6, 8, 14, 20}) {
      BloomDescription filter;
      filter.kind = kind_;
      filter.probes = probes;
      filter.bits = bits;
      const Kernel& kernel = set_.kernel_for(filter);
      std::array<std::uint64_t, kBatchKeys> hashes;
      for (std::uint64_t& hash : hashes) hash = random();
      hashes[0] = ~std::uint64_t{0};  // the last positions
      AddKeys(kernel, array.get(), filter, hashes.data(), hashes.size());
      for (const std::uint64_t hash : hashes) {
        ASSERT_TRUE(ContainsByDefinition(array.get(), filter, hash));
      }
      std::array<bool, kBatchKeys> results;
      kernel.may_contain_batch(array.get(), filter, hashes.data(), hashes.size(), results.data());
      EXPECT_EQ(std::count(results.begin(), results.end(), true), std::ptrdiff_t{kBatchKeys});
      for (std::uint64_t& hash : hashes) hash = random();
      kernel.may_contain_batch(array.get(), filter, hashes.data(), hashes.size(), results.data());
      EXPECT_EQ(std::count(results.begin(), results.end(), true), 0);
    }
  }
}

TEST(CodeWord, ExtremeHashesStayInRange) {
  for (const std::uint64_t hash : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    for (const std::uint64_t bits :
         {std::uint64_t{72}, std::uint64_t{1} << 35, ~std::uint64_t{0}}) {
      for (const BloomKind kind : {BloomKind::kStandard, BloomKind::kClassic}) {
        const CodeWord word = MakeCodeWord(kind, hash, bits, kMaxProbes);
        ASSERT_EQ(word.size, kMaxProbes);
        for (const std::uint64_t position : word.positions) ASSERT_LT(position, bits);
      }
    }
  }
}

// Groups of keys that are all of one length, that are all hashed in one step, and that are not;
// with groups that are cut short.
TEST(HashKeys, AreTheHashesOfTheKeysOfAnyLength) {
  std::mt19937_64 random(5);
  std::string bytes(400, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (const InstructionSet& set : AvailableInstructionSets()) {
    for (int repetition = 0; repetition < 1000; ++repetition) {
      KeyBatch keys;
      const std::size_t shortest = random() % 40;
      const std::size_t lengths = 1 + repetition % 3 * (random() % 30);
      const std::size_t count = 1 + random() % kBatchKeys;
      for (std::size_t i = 0; i < count; ++i) {
        keys.sizes[i] = repetition % 4 == 0 ? 9 + random() % 8 : shortest + random() % lengths;
        keys.data[i] = bytes.data() + random() % 300;
      }
      const std::uint64_t seed = repetition % 2 == 0 ? 0 : random();
      std::array<std::uint64_t, kBatchKeys> hashes{};
      set.hash_keys(keys, count, seed, hashes.data());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(hashes[i], HashKey({keys.data[i], keys.sizes[i]}, seed)) << set.name;
      }
      ASSERT_EQ(std::count(hashes.begin() + static_cast<std::ptrdiff_t>(count), hashes.end(), 0),
                static_cast<std::ptrdiff_t>(kBatchKeys - count));
    }
  }
}

TEST(KernelTable, TakesTheNamedSetIgnoresUnknownNamesAndEndsWithScalar) {
  for (const std::string& name : NamesOf(AvailableInstructionSets())) {
    EXPECT_EQ(ChooseInstructionSet(name).name, name);
  }
  EXPECT_EQ(AvailableInstructionSets().back().name, "scalar");
  const std::string best(AvailableInstructionSets().front().name);
  for (const char* name : {"", "AVX2", "sse", "avx2 ", "abacus"}) {
    EXPECT_EQ(ChooseInstructionSet(name).name, best) << name;
  }
}

}  // namespace
}  // namespace exactbloom::filter
