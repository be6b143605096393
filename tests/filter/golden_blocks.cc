#include "golden_blocks.h"

#include <cstdint>

namespace exactbloom {
namespace {

std::vector<std::string> WordsOfNumbers(int count) {
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) words.push_back("key " + std::to_string(i));
  return words;
}

constexpr std::uint64_t kSalt = 0x0123456789abcdefU;

}  // namespace

FilterBlock GoldenBlock::Build() const {
  BloomFilterBuilder builder = *BloomFilterBuilder::Create(options);
  for (const std::string& key : keys) builder.AddKey(key);
  return builder.Finish();
}

std::vector<GoldenBlock> GoldenBlocks() {
  const std::vector<std::string> fruit = {"apple", "banana", "cherry"};
  const std::vector<std::string> numbers = WordsOfNumbers(1000);
  return {
      {"classic_empty.block", {FilterKind::kClassic, 10, 0}, {}},
      {"classic_fruit.block", {FilterKind::kClassic, 10, 0}, fruit},
      {"standard_fruit.block", {FilterKind::kStandard, 10, 0}, fruit},
      {"classic_numbers.block", {FilterKind::kClassic, 9.9, kSalt}, numbers},
      {"standard_numbers.block", {FilterKind::kStandard, 9.9, kSalt}, numbers},
      // Enough probes that Floyd's sampling has to replace draws.
      {"classic_replaced.block", {FilterKind::kClassic, 100, 0}, fruit},
      {"classic_1_line_fruit.block", {{FilterKind::kClassic, 1}, 10, 0}, fruit},
      {"classic_1_line_numbers.block", {{FilterKind::kClassic, 1}, 9.9, kSalt}, numbers},
      {"standard_1_line_numbers.block", {{FilterKind::kStandard, 1}, 9.9, kSalt}, numbers},
  };
}

std::ostream& operator<<(std::ostream& out, const GoldenBlock& golden) {
  return out << golden.file;
}

}  // namespace exactbloom
