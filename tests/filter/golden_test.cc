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

#include "exactbloom/bloom_filter.h"

namespace exactbloom {
namespace {

struct GoldenBlock {
  std::string file;
  BloomFilterBuilder::Options options;
  std::vector<std::string> keys;
};

std::ostream& operator<<(std::ostream& out, const GoldenBlock& golden) {
  return out << golden.file;
}

std::vector<GoldenBlock> GoldenBlocks() {
  constexpr std::uint64_t kSalt = 0x0123456789abcdefU;
  const std::vector<std::string> fruit = {"apple", "banana", "cherry"};
  std::vector<std::string> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back("key " + std::to_string(i));
  return {
      {"classic_empty.block", {FilterKind::kClassic, 10, 0}, {}},
      {"classic_fruit.block", {FilterKind::kClassic, 10, 0}, fruit},
      {"standard_fruit.block", {FilterKind::kStandard, 10, 0}, fruit},
      {"classic_numbers.block", {FilterKind::kClassic, 9.9, kSalt}, numbers},
      {"standard_numbers.block", {FilterKind::kStandard, 9.9, kSalt}, numbers},
      // Enough probes that Floyd's sampling has to replace draws.
      {"classic_replaced.block", {FilterKind::kClassic, 100, 0}, fruit},
  };
}

class Golden : public testing::TestWithParam<GoldenBlock> {};

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(GoldenBlocks()), [](const auto& test) {
  return test.param.file.substr(0, test.param.file.find('.'));
});

TEST_P(Golden, IsWrittenAndRead) {
  const auto& [file, options, keys] = GetParam();
  BloomFilterBuilder builder = *BloomFilterBuilder::Create(options);
  for (const std::string& key : keys) builder.AddKey(key);
  const FilterBlock block = builder.Finish();
  const std::string path = EXACTBLOOM_GOLDEN_DIR "/" + file;
  if (std::getenv("EXACTBLOOM_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path, std::ios::binary) << block.bytes();
  }
  std::ifstream in(path, std::ios::binary);
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(block.bytes(), golden);

  const BloomFilterView view(golden);
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_EQ(view.Description().kind, options.kind);
  EXPECT_EQ(view.Description().keys, keys.size());
  EXPECT_EQ(view.Description().hash_seed, options.hash_seed);
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key)) << key;
}

}  // namespace
}  // namespace exactbloom
