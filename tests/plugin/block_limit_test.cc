// A filter that would exceed the block limit is made smaller, keeps its keys, and is reported in
// the info log. With a limit of a kilobyte, since reaching the real one takes three thousand
// million keys.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "filter/block_format.h"
#include "plugin/bits_builder.h"
#include "sample_database.h"

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

TEST(BlockLimit, IsReachedWithoutALine) {
  const Outcome outcome = Build(777, 0.0);  // (999 - 27) * 8 / 10
  EXPECT_EQ(outcome.bytes, kMostBytes);
  EXPECT_EQ(outcome.lines, std::vector<std::string>());
}

TEST(BlockLimit, CutsTheFilterAndSaysSo) {
  const Outcome outcome = Build(778, 0.0);
  EXPECT_EQ(outcome.bytes, kMostBytes);
  ASSERT_EQ(outcome.lines.size(), 1U);
  EXPECT_NE(outcome.lines[0].find("a filter of 778 keys"), std::string::npos) << outcome.lines[0];
  EXPECT_NE(outcome.lines[0].find("which 777 keys reach"), std::string::npos) << outcome.lines[0];
}

TEST(BlockLimit, HoldsForFiltersSizedByARate) {
  EXPECT_EQ(Build(100, 0.01).lines.size(), 0U);
  const Outcome outcome = Build(2000, 0.01);
  EXPECT_EQ(outcome.bytes, kMostBytes);
  EXPECT_EQ(outcome.lines.size(), 1U);
}

}  // namespace
}  // namespace exactbloom
