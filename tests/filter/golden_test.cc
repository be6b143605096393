// The golden files: the writer still makes their bytes, the reader still answers on them. They
// define the format and never change.
//
// To add one, name it in GoldenBlocks() and run this program with EXACTBLOOM_WRITE_GOLDEN=1, which
// writes the files that are missing.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "exactbloom/filter.h"

namespace exactbloom {
namespace {

struct GoldenBlock {
  std::string file;
  FilterOptions options;
  std::vector<std::string> keys;
};

std::ostream& operator<<(std::ostream& out, const GoldenBlock& golden) {
  return out << golden.file;
}

constexpr std::uint64_t kSalt = 0x0123456789abcdefU;

std::vector<std::string> Fruit() { return {"apple", "banana", "cherry"}; }

std::vector<std::string> Numbers(int count) {
  std::vector<std::string> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back("key " + std::to_string(i));
  return numbers;
}

std::vector<GoldenBlock> GoldenBlocks() {
  const std::vector<std::string> fruit = Fruit();
  const std::vector<std::string> numbers = Numbers(1000);
  return {
      {"classic_empty.block", {BloomKind::kClassic, 10, 0}, {}},
      {"classic_fruit.block", {BloomKind::kClassic, 10, 0}, fruit},
      {"standard_fruit.block", {BloomKind::kStandard, 10, 0}, fruit},
      {"classic_numbers.block", {BloomKind::kClassic, 9.9, kSalt}, numbers},
      {"standard_numbers.block", {BloomKind::kStandard, 9.9, kSalt}, numbers},
      // Enough probes that Floyd's sampling has to replace draws.
      {"classic_replaced.block", {BloomKind::kClassic, 100, 0}, fruit},
  };
}

struct GoldenRibbon {
  std::string file;
  double bits_per_key;
  std::uint64_t hash_seed;
  std::vector<std::string> keys;
};

std::ostream& operator<<(std::ostream& out, const GoldenRibbon& golden) {
  return out << golden.file;
}

std::vector<GoldenRibbon> GoldenRibbons() {
  return {
      {"ribbon_empty.block", 10, 0, {}},
      {"ribbon_fruit.block", 10, 0, Fruit()},  // a trailer that lets all pass
      {"ribbon_numbers.block", 9.9, kSalt, Numbers(1000)},
      {"ribbon_shards.block", 1.7, 0, Numbers(31500)},
      {"ribbon_reseeded.block", 12, 2923, Numbers(300)},
  };
}

// Writes the file if that is asked for and it is missing.
std::string ReadGolden(const std::string& file, const FilterBlock& block) {
  const std::string path = EXACTBLOOM_GOLDEN_DIR "/" + file;
  if (std::getenv("EXACTBLOOM_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path, std::ios::binary) << block.bytes();
  }
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Golden : public testing::TestWithParam<GoldenBlock> {};

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(GoldenBlocks()), [](const auto& test) {
  return test.param.file.substr(0, test.param.file.find('.'));
});

TEST_P(Golden, IsWrittenAndRead) {
  const auto& [file, options, keys] = GetParam();
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (const std::string& key : keys) builder.AddKey(key);
  const FilterBlock block = builder.Finish();
  const std::string golden = ReadGolden(file, block);
  EXPECT_EQ(block.bytes(), golden);

  const FilterView view(golden);
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_EQ(view.Description().kind, options.kind);
  EXPECT_EQ(view.Description().keys, keys.size());
  EXPECT_EQ(view.Description().hash_seed, options.hash_seed);
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key)) << key;
}

class RibbonGolden : public testing::TestWithParam<GoldenRibbon> {};

INSTANTIATE_TEST_SUITE_P(Files, RibbonGolden, testing::ValuesIn(GoldenRibbons()),
                         [](const auto& test) {
                           return test.param.file.substr(0, test.param.file.find('.'));
                         });

TEST_P(RibbonGolden, IsWrittenAndRead) {
  const auto& [file, bits_per_key, hash_seed, keys] = GetParam();
  FilterBuilder builder = *FilterBuilder::Create({bits_per_key, hash_seed});
  for (const std::string& key : keys) builder.AddKey(key);
  const FilterBlock block = builder.Finish();
  const std::string golden = ReadGolden(file, block);
  EXPECT_EQ(block.bytes(), golden);

  const FilterView view(golden);
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_EQ(view.Description().keys, keys.size());
  EXPECT_EQ(view.Description().hash_seed, hash_seed);
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key)) << key;
}

}  // namespace
}  // namespace exactbloom
