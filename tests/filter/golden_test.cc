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
  FilterKind kind;
  std::uint64_t hash_seed;
  std::uint64_t most_bytes;
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
  constexpr FilterKind kClassic = FilterKind::kClassicBloom;
  constexpr FilterKind kStandard = FilterKind::kStandardBloom;
  constexpr FilterKind kRibbon = FilterKind::kRibbon;
  const std::vector<std::string> numbers = Numbers(1000);
  return {
      {"classic_empty.block", kClassic, 0, 12, {}},
      {"classic_fruit.block", kClassic, 0, 16, Fruit()},
      {"standard_fruit.block", kStandard, 0, 16, Fruit()},
      {"classic_numbers.block", kClassic, kSalt, 1259, numbers},
      {"standard_numbers.block", kStandard, kSalt, 1259, numbers},
      // Enough probes that Floyd's sampling has to replace draws.
      {"classic_replaced.block", kClassic, 0, 50, Fruit()},
      {"ribbon_empty.block", kRibbon, 0, 19, {}},
      {"ribbon_fruit.block", kRibbon, 0, 20, Fruit()},  // a trailer that lets all pass
      {"ribbon_numbers.block", kRibbon, kSalt, 1237, numbers},
      {"ribbon_shards.block", kRibbon, 0, 6693, Numbers(31500)},
      {"ribbon_reseeded.block", kRibbon, 2923, 450, Numbers(300)},
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
  const auto& [file, kind, hash_seed, most_bytes, keys] = GetParam();
  FilterBuilder builder = *FilterBuilder::Create({kind, 10, 0, hash_seed});
  for (const std::string& key : keys) builder.AddKey(key);
  const FilterBlock block = builder.Finish(*builder.PlanWithin(keys.size(), most_bytes));
  const std::string golden = ReadGolden(file, block);
  EXPECT_EQ(block.bytes(), golden);

  const FilterView view(golden);
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_EQ(view.Kind(), kind);
  EXPECT_EQ(view.Description().keys, keys.size());
  EXPECT_EQ(view.Description().hash_seed, hash_seed);
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key)) << key;
}

}  // namespace
}  // namespace exactbloom
