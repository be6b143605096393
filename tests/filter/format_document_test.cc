// docs/format.md is normative, so its worked example must be the real block.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>
#include <string>

#include "filter/kernels/code_word.h"
#include "filter/kernels/key_hash.h"
#include "golden_blocks.h"

namespace exactbloom {
namespace {

// The bytes of the first fenced block behind the mark "hex dump of FILE": lines of an offset, a
// colon, bytes in hexadecimal, and a remark after two spaces.
std::string ReadDump(const std::string& file) {
  std::ifstream document(EXACTBLOOM_FORMAT_DOCUMENT);
  EXPECT_TRUE(document) << EXACTBLOOM_FORMAT_DOCUMENT;
  std::string line;
  while (std::getline(document, line) && line.find("hex dump of `" + file) == std::string::npos) {
  }
  while (std::getline(document, line) && line.rfind("```", 0) != 0) {
  }
  std::string bytes;
  while (std::getline(document, line) && line.rfind("```", 0) != 0) {
    const std::size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    EXPECT_EQ(std::stoul(line.substr(0, colon), nullptr, 16), bytes.size()) << line;
    const std::size_t start = colon + 2;
    std::istringstream row(line.substr(start, line.find("  ", start) - start));
    for (std::string byte; row >> byte;) {
      bytes.push_back(static_cast<char>(std::stoi(byte, nullptr, 16)));
    }
  }
  return bytes;
}

TEST(FormatDocument, DumpIsTheGoldenBlock) {
  int dumps = 0;
  for (const GoldenBlock& golden : GoldenBlocks()) {
    const std::string dump = ReadDump(golden.file);
    if (dump.empty()) continue;
    ++dumps;
    EXPECT_EQ(dump, golden.Build().bytes()) << golden.file;
  }
  EXPECT_EQ(dumps, 1);
}

// A key's row in the worked example's table.
std::string RowOf(const std::string& key, const FilterDescription& filter) {
  const std::uint64_t hash = filter::HashKey(key, filter.hash_seed);
  const filter::CodeWord word =
      filter::MakeCodeWord(filter.layout, hash, filter.bits, filter.probes);
  std::ostringstream row;
  row << "| `" << key << "` | `0x" << std::hex << std::setw(16) << std::setfill('0') << hash
      << std::dec << "` |";
  for (int i = 0; i < word.size; ++i) row << ' ' << word.positions[static_cast<std::size_t>(i)];
  row << " |";
  return row.str();
}

TEST(FormatDocument, PositionsAreTheRealOnes) {
  std::ifstream in(EXACTBLOOM_FORMAT_DOCUMENT);
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  int rows = 0;
  for (const GoldenBlock& golden : GoldenBlocks()) {
    if (document.find('`' + golden.file + '`') == std::string::npos) continue;
    const FilterBlock block = golden.Build();
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string row = RowOf(golden.keys[i], BloomFilterView(block.bytes()).Description());
      EXPECT_NE(document.find(row), std::string::npos) << row;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 9);
}

}  // namespace
}  // namespace exactbloom
