// The contract between RocksDB's tables and the builder and reader of a policy.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bits_builder_fixture.h"
#include "exactbloom/bloom_filter.h"
#include "plugin/bits_builder.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;

// The longest batch that RocksDB asks for.
constexpr int kMostInBatch = 32;

class FilterBits : public testing::TestWithParam<FilterKind> {
 protected:
  std::unique_ptr<FilterBitsBuilder> NewBuilder() const { return exactbloom::NewBuilder(*policy_); }

  std::unique_ptr<FilterBitsReader> NewReader(const Slice& contents) const {
    return std::unique_ptr<FilterBitsReader>(policy_->GetFilterBitsReader(contents));
  }

  PolicyPointer policy_ = NewPolicy(GetParam());
  PolicyPointer stock_{rocksdb::NewBloomFilterPolicy(10)};
};

INSTANTIATE_TEST_SUITE_P(Kinds, FilterBits,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard),
                         [](const auto& test) { return NameOf(test.param); });

// As with the built-in filter of newer versions: RocksDB writes an empty block for a partition
// without keys.
TEST_P(FilterBits, FilterOfNoKeysIsEmptyAndAnswersAbsent) {
  const Filter filter = FinishAndVerify(*NewBuilder());
  EXPECT_TRUE(filter.contents.empty());
  for (const rocksdb::FilterPolicy* policy : {policy_.get(), stock_.get()}) {
    const std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(filter.contents));
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(reader->MayMatch(KeyOf(i)));
  }
}

TEST_P(FilterBits, FilterOfOneKeyIsLongerThanWhatReadersTakeAsEmpty) {
  const auto builder = NewBuilder();
  builder->AddKey("");
  EXPECT_GT(FinishAndVerify(*builder).contents.size(), 5U);
}

TEST_P(FilterBits, NothingFitsBelowATrailerAndACacheLine) {
  constexpr std::size_t kLeast = filter::TrailerBytes(1, 0) + 64;
  EXPECT_EQ(NewBuilder()->ApproximateNumEntries(0), 0U);
  EXPECT_EQ(NewBuilder()->ApproximateNumEntries(kLeast - 1), 0U);
  EXPECT_GT(NewBuilder()->ApproximateNumEntries(kLeast), 1U);
}

TEST_P(FilterBits, BatchesOfEverySizeAreAnsweredWholly) {
  const auto builder = NewBuilder();
  for (std::uint64_t i = 0; i < 1000; ++i) builder->AddKey(KeyOf(i));
  const Filter filter = FinishAndVerify(*builder);
  const auto reader = NewReader(filter.contents);
  for (int count = 1; count <= kMostInBatch; ++count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
      texts.push_back(KeyOf(static_cast<std::uint64_t>(i % 3 == 0 ? i : 5000 + 32 * count + i)));
    }
    std::vector<Slice> keys(texts.begin(), texts.end());
    std::vector<Slice*> pointers;
    for (Slice& key : keys) pointers.push_back(&key);
    for (const bool before : {false, true}) {
      // An allocation of the exact size, for the address sanitizer.
      const std::unique_ptr<bool[]> results(new bool[static_cast<std::size_t>(count)]);
      std::fill_n(results.get(), count, before);
      reader->MayMatch(count, pointers.data(), results.get());
      for (int i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        ASSERT_EQ(results[index], reader->MayMatch(keys[index])) << count << ' ' << i;
        if (i % 3 == 0) {
          ASSERT_TRUE(results[index]);
        }
      }
    }
  }
}

// A filter that would exceed the block limit is made smaller, keeps its keys, and is reported in
// the info log. With a limit of a kilobyte, since reaching the real one takes three thousand
// million keys.
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

// Returns the size of a filter of so many keys, and adds what the info log gets.
std::size_t BuildLimited(std::uint64_t keys, double rate, Lines* log) {
  BloomFilterBuilder::Options options;
  options.false_positive_rate = rate;
  options.block_bytes_limit = kLimit;
  const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.info_log = log;
  MemoryFit memory_fit;
  const auto builder = NewBitsBuilder(*BloomFilterBuilder::Create(options), context, memory_fit);
  for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(KeyOf(i));
  const Filter filter = FinishAndVerify(*builder);
  const BloomFilterView view({filter.contents.data(), filter.contents.size()});
  for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(view.MayContain(KeyOf(i)));
  return filter.contents.size();
}

// At the limit. It leaves room for the longest trailer, and there are some hundred keys.
constexpr std::size_t kMostBytes =
    kLimit - 1 - filter::kMostTrailerBytes + filter::TrailerBytes(1000, 0);

TEST(BlockLimit, CutsTheFilterAndSaysSo) {
  Lines log;
  EXPECT_EQ(BuildLimited(777, 0.0, &log), kMostBytes);  // (999 - 27) * 8 / 10
  EXPECT_LT(BuildLimited(100, 0.01, &log), kMostBytes);
  EXPECT_TRUE(log.lines.empty());
  EXPECT_EQ(BuildLimited(2000, 0.01, &log), kMostBytes);
  EXPECT_EQ(BuildLimited(778, 0.0, &log), kMostBytes);
  ASSERT_EQ(log.lines.size(), 2U);
  EXPECT_NE(log.lines[0].find("a filter of 2000 keys"), std::string::npos) << log.lines[0];
  EXPECT_NE(log.lines[1].find("a filter of 778 keys"), std::string::npos) << log.lines[1];
  EXPECT_NE(log.lines[1].find("which 777 keys reach"), std::string::npos) << log.lines[1];
}

}  // namespace
}  // namespace exactbloom
