// A filter that would exceed the block limit is made smaller, keeps its keys, and is reported in
// the info log. With a limit of a kilobyte, since reaching the real one takes three thousand
// million keys.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "plugin/bits_builder.h"
#include "sample_database.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kLimit = 1000;

class Lines : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;

  void Logv(const char* format, va_list arguments) override {
    char text[500];
    std::vsnprintf(text, sizeof text, format, arguments);
    lines.emplace_back(text);
  }

  std::vector<std::string> lines;
};

struct Outcome {
  std::size_t bytes = 0;
  std::vector<std::string> lines;
};

Outcome Build(std::uint64_t keys, double rate) {
  BloomFilterBuilder::Options options;
  options.false_positive_rate = rate;
  options.block_bytes_limit = kLimit;
  Lines log;
  const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.info_log = &log;
  MemoryFit memory_fit;
  const auto builder = NewBitsBuilder(*BloomFilterBuilder::Create(options), context, memory_fit);
  for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(KeyOf(i));
  std::unique_ptr<const char[]> buffer;
  const rocksdb::Slice block = builder->Finish(&buffer);
  const BloomFilterView view({block.data(), block.size()});
  for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(view.MayContain(KeyOf(i)));
  return {block.size(), log.lines};
}

// At the limit. It leaves room for the longest trailer, and there are some hundred keys.
constexpr std::size_t kMostBytes =
    kLimit - 1 - filter::kMostTrailerBytes + filter::TrailerBytes(1000, 0);

TEST(BlockLimit, CutsTheFilterAndSaysSo) {
  const Outcome reached = Build(777, 0.0);  // (999 - 27) * 8 / 10
  EXPECT_EQ(reached.bytes, kMostBytes);
  EXPECT_TRUE(reached.lines.empty());
  EXPECT_TRUE(Build(100, 0.01).lines.empty());
  for (const auto& [keys, rate] : {std::pair(778, 0.0), std::pair(2000, 0.01)}) {
    const Outcome cut = Build(static_cast<std::uint64_t>(keys), rate);
    EXPECT_EQ(cut.bytes, kMostBytes);
    ASSERT_EQ(cut.lines.size(), 1U);
    const std::string filter = "a filter of " + std::to_string(keys) + " keys";
    EXPECT_NE(cut.lines[0].find(filter), std::string::npos) << cut.lines[0];
    if (rate != 0.0) continue;
    EXPECT_NE(cut.lines[0].find("which 777 keys reach"), std::string::npos) << cut.lines[0];
  }
}

}  // namespace
}  // namespace exactbloom
