// Kernels on filters whose positions need more than 32 bits. The array is untouched memory, so it
// takes only the pages of a few keys.
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

#include "filter/block_format.h"
#include "filter/kernels/code_word.h"
#include "filter/kernels/kernel.h"
#include "filter/kernels/kernel_table.h"
#include "sample_filters.h"

namespace exactbloom::filter {
namespace {

constexpr std::uint64_t kBits = (std::uint64_t{1} << 32) + 24 * kLineBits;

class LargeFilter : public testing::TestWithParam<std::tuple<std::size_t, Layout>> {
 protected:
  FilterDescription Filter(int probes) const {
    FilterDescription filter;
    filter.layout = std::get<1>(GetParam());
    filter.probes = probes;
    filter.bits = kBits;
    return filter;
  }

  const Kernel& KernelOf(const FilterDescription& filter) const {
    return AvailableInstructionSets()[std::get<0>(GetParam())].kernel_for(filter);
  }
};

std::vector<std::size_t> SetNumbers() {
  std::vector<std::size_t> numbers(AvailableInstructionSets().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}

INSTANTIATE_TEST_SUITE_P(Kernels, LargeFilter,
                         testing::Combine(testing::ValuesIn(SetNumbers()),
                                          testing::ValuesIn(AllLayouts())),
                         [](const auto& test) {
                           return std::string(
                                      AvailableInstructionSets()[std::get<0>(test.param)].name) +
                                  NameOf(std::get<1>(test.param));
                         });

// The array is nearly empty, so no other key is contained.
TEST_P(LargeFilter, SetsAndTestsTheBitsOfTheDefinition) {
  using Memory = std::unique_ptr<unsigned char, decltype(&std::free)>;
  const Memory array(static_cast<unsigned char*>(std::calloc(1, ArrayBytes(kBits) + kTrailerBytes)),
                     &std::free);
  ASSERT_NE(array, nullptr);
  std::mt19937_64 random(32);
  for (const int probes : {2, 6, 8, 14, 20}) {
    const FilterDescription filter = Filter(probes);
    const Kernel& kernel = KernelOf(filter);
    std::array<std::uint64_t, kBatchKeys> hashes;
    for (std::uint64_t& hash : hashes) hash = random();
    hashes[0] = ~std::uint64_t{0};  // the last positions
    kernel.add(array.get(), filter, hashes.data(), hashes.size());
    for (const std::uint64_t hash : hashes) {
      const CodeWord word = MakeCodeWord(filter.layout, hash, filter.bits, probes);
      for (int i = 0; i < word.size; ++i) {
        ASSERT_TRUE(TestBit(array.get(), word.positions[static_cast<std::size_t>(i)]));
      }
    }
    std::array<bool, kBatchKeys> results;
    kernel.may_contain_batch(array.get(), filter, hashes.data(), hashes.size(), results.data());
    EXPECT_EQ(std::count(results.begin(), results.end(), true), std::ptrdiff_t{kBatchKeys});
    for (std::uint64_t& hash : hashes) hash = random();
    kernel.may_contain_batch(array.get(), filter, hashes.data(), hashes.size(), results.data());
    EXPECT_EQ(std::count(results.begin(), results.end(), true), 0);
  }
}

}  // namespace
}  // namespace exactbloom::filter
