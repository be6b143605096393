// The contract between RocksDB's tables and the builder and reader of a policy: also where a fault
// happens while a filter is built or in the block, and where a block would be too large.
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
#include "builder_fault.h"
#include "exactbloom/filter.h"
#include "faulty_policy.h"
#include "plugin/bits_builder.h"
#include "plugin/bits_reader.h"
#include "plugin/bloom_filter_policy.h"
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

class FilterBits : public testing::TestWithParam<BloomKind> {
 protected:
  std::unique_ptr<FilterBitsBuilder> NewBuilder() const { return exactbloom::NewBuilder(*policy_); }

  std::unique_ptr<FilterBitsReader> NewReader(const Slice& contents) const {
    return std::unique_ptr<FilterBitsReader>(policy_->GetFilterBitsReader(contents));
  }

  PolicyPointer policy_ = NewPolicy(GetParam());
  PolicyPointer stock_{rocksdb::NewBloomFilterPolicy(10)};
};

INSTANTIATE_TEST_SUITE_P(Kinds, FilterBits,
                         testing::Values(BloomKind::kClassic, BloomKind::kStandard),
                         [](const auto& test) { return NameOf(test.param); });

// Never a block of no bytes, which RocksDB's MultiGet takes for one that is out of range.
TEST_P(FilterBits, FilterOfNoKeysDeniesAllKeysAndStockReadersLetThemPass) {
  const Filter filter = FinishAndVerify(*NewBuilder());
  EXPECT_EQ(filter.contents.size(), filter::TrailerBytes(0, 0) + 1);
  for (const rocksdb::FilterPolicy* policy : {policy_.get(), stock_.get()}) {
    const std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(filter.contents));
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(reader->MayMatch(KeyOf(i)), policy == stock_.get());
    }
  }
}

// In whichever way the policies tell filters apart.
TEST_P(FilterBits, AnyFlippedBitOfATrailerLetsAllKeysPass) {
  const auto builder = NewBuilder();
  AddNumbers(*builder, 300);
  const Filter filter = FinishAndVerify(*builder);
  const std::string block = filter.contents.ToString();
  const std::size_t trailer = block.size() - filter::TrailerBytesOf(block);
  for (std::size_t bit = 8 * trailer; bit < 8 * block.size(); ++bit) {
    std::string damaged = block;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    for (const rocksdb::FilterPolicy* policy : {policy_.get(), stock_.get()}) {
      const std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(damaged));
      for (std::uint64_t i = 0; i < 32; ++i) EXPECT_TRUE(reader->MayMatch(KeyOf(i))) << bit;
    }
  }
}

// ExactBloom's policies read them, also those that do not build them.
TEST(RibbonBlocks, LetAllKeysPassStockReaders) {
  const PolicyPointer stock[] = {PolicyPointer(rocksdb::NewBloomFilterPolicy(10)),
                                 PolicyPointer(rocksdb::NewRibbonFilterPolicy(10))};
  for (const std::uint64_t keys : {0U, 3U, 1000U, 40000U}) {
    FilterBuilder builder = *FilterBuilder::Create({FilterKind::kRibbon});
    for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(KeyOf(i));
    const FilterBlock block = builder.Finish();
    const Slice contents(block.data.get(), block.size);
    for (const PolicyPointer& policy : stock) {
      const std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(contents));
      for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_TRUE(reader->MayMatch(KeyOf(i))) << keys;
    }
    const std::unique_ptr<FilterBitsReader> ours(
        NewPolicy(BloomKind::kClassic)->GetFilterBitsReader(contents));
    std::uint64_t passed = 0;
    for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(ours->MayMatch(KeyOf(i))) << keys;
    for (std::uint64_t i = keys; i < keys + 1000; ++i) passed += ours->MayMatch(KeyOf(i)) ? 1 : 0;
    // One of three keys has no room for a slot.
    EXPECT_LE(passed, keys == 3 ? 1000U : 20U) << keys;
  }
}

TEST_P(FilterBits, NothingFitsBelowATrailerAndACacheLine) {
  constexpr std::size_t kLeast = filter::TrailerBytes(1, 0) + 64;
  EXPECT_EQ(NewBuilder()->ApproximateNumEntries(0), 0U);
  EXPECT_EQ(NewBuilder()->ApproximateNumEntries(kLeast - 1), 0U);
  EXPECT_GT(NewBuilder()->ApproximateNumEntries(kLeast), 1U);
}

// A MultiGet asks for at most 32 at once.
TEST_P(FilterBits, BatchesAreAnsweredWholly) {
  const auto builder = NewBuilder();
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 70; ++i) {
    texts.push_back(KeyOf(i));
    if (i % 3 == 0) builder->AddKey(texts.back());
  }
  const Filter filter = FinishAndVerify(*builder);
  const auto reader = NewReader(filter.contents);
  std::vector<Slice> keys(texts.begin(), texts.end());
  std::vector<Slice*> pointers;
  for (Slice& key : keys) pointers.push_back(&key);
  for (const std::size_t count : {1U, 31U, 32U, 33U, 70U}) {
    for (const bool before : {false, true}) {
      // An allocation of the exact size, for the address sanitizer.
      const std::unique_ptr<bool[]> results(new bool[count]);
      std::fill_n(results.get(), count, before);
      reader->MayMatch(static_cast<int>(count), pointers.data(), results.get());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(results[i], reader->MayMatch(keys[i])) << count << ' ' << i;
      }
    }
  }
}

// detect_filter_construct_corruption: faults that happen while a filter is built are reported, and
// keep the table out of the database.
constexpr std::uint64_t kKeys = 3000;

void ExpectCorruption(const Status& status, const std::string& what) {
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
}

void FlipBit(char& byte) { byte = static_cast<char>(byte ^ 4); }

class FaultDetection : public testing::TestWithParam<PolicyOptions> {
 protected:
  FaultDetection() { table_options_.detect_filter_construct_corruption = true; }

  rocksdb::BlockBasedTableOptions table_options_ = PlannedSizes();
  PolicyPointer policy_ = std::make_shared<BloomFilterPolicy>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Policies, FaultDetection,
                         testing::Values(PolicyKind::kClassicBloom, PolicyKind::kStandardBloom,
                                         PolicyKind::kExactRibbon),
                         [](const auto& test) {
                           const std::string name = PolicyName(test.param.kind);
                           return name.substr(0, name.find('_'));
                         });

TEST_P(FaultDetection, AFlippedBitOfAHashIsReportedByFinish) {
  FilterOptions options = ToFilterOptions(GetParam());
  options.detect_faults = true;
  FilterBuilder filter_builder = *FilterBuilder::Create(options);
  filter::HashStore& hashes = filter::BuilderAccess::StateOf(filter_builder).Hashes();
  MemoryFit memory_fit;
  const auto builder = NewBitsBuilder(std::move(filter_builder),
                                      rocksdb::FilterBuildingContext(table_options_), memory_fit);
  AddNumbers(*builder, kKeys);
  filter::HashIn(hashes, 1234) ^= 1;
  std::unique_ptr<const char[]> buffer;
  Status status;
  const Slice contents = builder->Finish(&buffer, &status);
  ExpectCorruption(status, "key's hash changed");
  // Even if the block is used, it must not lose a key.
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy_->GetFilterBitsReader(contents));
  EXPECT_TRUE(reader->MayMatch("any key"));
  // The builder goes on with the next filter.
  AddNumbers(*builder, 10);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 10U);
  FinishAndVerify(*builder);
}

TEST_P(FaultDetection, AFlushThatMeetsAFaultFails) {
  for (const bool partitioned : {false, true}) {
    table_options_.filter_policy = std::make_shared<FaultyPolicy>(
        policy_,
        [](char* block, std::size_t size, const auto& /*keys*/) { FlipBit(block[size / 2]); });
    if (partitioned) PartitionFilters(512, &table_options_);
    const TemporaryDirectory directory;
    const Database db = Open(OptionsWith(table_options_), directory.path("db"));
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(db->Put({}, KeyOf(i), "value").ok());
    ExpectCorruption(db->Flush({}), "filter block changed");
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
std::size_t BuildLimited(std::uint64_t keys, double rate, bool ribbon, Lines* log) {
  FilterOptions options;
  if (!ribbon) options.kind = FilterKind::kClassicBloom;
  options.false_positive_rate = rate;
  options.block_bytes_limit = kLimit;
  const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.info_log = log;
  MemoryFit memory_fit;
  const auto builder = NewBitsBuilder(*FilterBuilder::Create(options), context, memory_fit);
  for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(KeyOf(i));
  const Filter filter = FinishAndVerify(*builder);
  const auto reader = NewBitsReader({filter.contents.data(), filter.contents.size()});
  for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(reader->MayMatch(KeyOf(i)));
  return filter.contents.size();
}

// At the limit. It leaves room for the longest trailer, and there are some hundred keys.
constexpr std::size_t kMostBytes =
    kLimit - 1 - filter::kMostTrailerBytes + filter::TrailerBytes(1000, 0);

TEST(BlockLimit, CutsTheFilterAndSaysSo) {
  Lines log;
  // The most whole lines beside the longest trailer.
  EXPECT_EQ(BuildLimited(768, 0.0, false, &log), 15 * kLineBytes + filter::TrailerBytes(768, 0));
  EXPECT_LT(BuildLimited(100, 0.01, false, &log), kMostBytes);
  EXPECT_TRUE(log.lines.empty());
  EXPECT_EQ(BuildLimited(2000, 0.01, false, &log), kMostBytes);
  EXPECT_EQ(BuildLimited(769, 0.0, false, &log), kMostBytes);
  ASSERT_EQ(log.lines.size(), 2U);
  EXPECT_NE(log.lines[0].find("a filter of 2000 keys"), std::string::npos) << log.lines[0];
  EXPECT_NE(log.lines[1].find("a filter of 769 keys"), std::string::npos) << log.lines[1];
  EXPECT_NE(log.lines[1].find("which 768 keys reach"), std::string::npos) << log.lines[1];
}

// Its trailer comes on top of 978 bytes, which are 10 bits for each of 783 keys, rounded down.
TEST(BlockLimit, CutsARibbonFilterAndSaysSo) {
  Lines log;
  EXPECT_LT(BuildLimited(783, 0.0, true, &log), kLimit);
  EXPECT_LT(BuildLimited(500, 0.01, true, &log), kLimit);
  EXPECT_TRUE(log.lines.empty());
  for (const auto& [keys, rate] : {std::pair(2000, 0.01), std::pair(2000, 0.0)}) {
    const std::size_t bytes = BuildLimited(static_cast<std::uint64_t>(keys), rate, true, &log);
    EXPECT_LT(bytes, kLimit);
    EXPECT_GT(bytes, kLimit - 20);
  }
  ASSERT_EQ(log.lines.size(), 2U);
  for (const std::string& line : log.lines) {
    EXPECT_NE(line.find("a filter of 2000 keys"), std::string::npos) << line;
  }
  EXPECT_NE(log.lines[1].find("which 783 keys reach"), std::string::npos) << log.lines[1];
}

}  // namespace
}  // namespace exactbloom
