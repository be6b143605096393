// What RocksDB counts is what the live tree predicts, by family and level.
#include "exactbloom/measured_reads.h"

#include <gtest/gtest.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/slice_transform.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/theory/confidence_interval.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;

constexpr std::uint64_t kKeysOfTable = 20'000;  // of a table
constexpr std::uint64_t kTables = 3;
constexpr std::uint64_t kAsked = kTables * kKeysOfTable - 1;

// Counts what the calling thread's lookups read, by level.
class CountedLevels {
 public:
  CountedLevels() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->EnablePerLevelPerfContext();
    rocksdb::get_perf_context()->Reset();
  }
  ~CountedLevels() {
    rocksdb::get_perf_context()->ClearPerLevelPerfContext();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  }
  CountedLevels(const CountedLevels&) = delete;
  CountedLevels& operator=(const CountedLevels&) = delete;

  std::map<int, FilterAnswers> Answers() const {
    std::map<int, FilterAnswers> answers;
    for (const MeasuredLevel& level : MeasureLevels()) answers[level.level] = level.answers;
    return answers;
  }
};

void ExpectPredicted(const FilterAnswers& measured, double predicted) {
  const std::uint64_t answers = measured.denied + measured.FalsePositives();
  EXPECT_GT(measured.FalsePositives(), 20U);
  const Interval interval = *WilsonInterval(measured.FalsePositives(), answers, kZ999);
  EXPECT_TRUE(interval.Contains(predicted))
      << predicted << " is not in " << interval.low << " .. " << interval.high;
}

// By level.
std::map<int, SortedRuns> PredictedOf(const rocksdb::DB& db, const std::string& family) {
  std::map<int, SortedRuns> levels;
  for (const SortedRuns& runs : GetSortedRuns(db)) {
    if (runs.column_family == family) levels[runs.level] = runs;
  }
  return levels;
}

class MeasuredDatabase : public testing::Test {
 protected:
  void OpenWith(const std::string& policy) {
    options_ = OptionsWith(PolicyPointer());
    ASSERT_TRUE(SetFilterPolicy(&options_, policy).ok());
    if (options_.listeners.empty()) options_.listeners.push_back(NewTreeListener());
    db_.reset();
    db_ = Open(options_, directory_.path("db"));
  }

  // Writes every third even number of the family, so that each table's range has all of them.
  void WriteTable(std::uint64_t third, ColumnFamilyHandle* family) {
    for (std::uint64_t i = 0; i < kKeysOfTable; ++i) {
      ASSERT_TRUE(db_->Put({}, family, KeyOf(2 * (kTables * i + third)), "value").ok());
    }
    ASSERT_TRUE(db_->Flush({}, family).ok());
  }

  // One table in the last level, and two in level 0.
  void WriteTree(ColumnFamilyHandle* family) {
    WriteTable(0, family);
    ASSERT_TRUE(ForceCompaction(*db_, family).ok());
    WriteTable(1, family);
    WriteTable(2, family);
  }

  MeasuredReads Measure() const { return MeasureReads(*options_.statistics); }

  TemporaryDirectory directory_;
  rocksdb::Options options_;
  Database db_;
};

TEST_F(MeasuredDatabase, ReadsOfEachFamilyAndLevelAreThePredictedOnes) {
  for (const char* policy :
       {"{id=exactbloom;bits_per_key=4}", "{id=exactbloom;bits_per_key=4;ribbon=false}"}) {
    SCOPED_TRACE(policy);
    OpenWith(policy);
    ColumnFamilyHandle* more = nullptr;
    rocksdb::Options options_of_more = options_;
    ASSERT_TRUE(SetFilterPolicy(&options_of_more, "classic_bloom:6").ok());
    ASSERT_TRUE(db_->CreateColumnFamily(options_of_more, "more", &more).ok());
    for (ColumnFamilyHandle* family : {db_->DefaultColumnFamily(), more}) {
      SCOPED_TRACE(family->GetName());
      WriteTree(family);
      const MeasuredReads before = Measure();
      const CountedLevels counted;
      for (std::uint64_t i = 0; i < kAsked; ++i) {
        std::string value;
        ASSERT_TRUE(db_->Get({}, family, KeyOf(2 * i + 1), &value).IsNotFound());
      }
      const auto measured = counted.Answers();
      const auto predicted = PredictedOf(*db_, family->GetName());
      ASSERT_EQ(measured.size(), 2U);
      ASSERT_EQ(predicted.size(), 2U);
      double wasted = 0.0;
      for (const auto& [level, runs] : predicted) {
        SCOPED_TRACE(level);
        ASSERT_EQ(measured.count(level), 1U);
        ExpectPredicted(measured.at(level), runs.FalsePositiveRate());
        wasted += runs.wasted_per_1000;
      }
      // Statistics have the sum.
      const MeasuredReads reads = Measure().Since(before);
      EXPECT_EQ(reads.lookups, kAsked);
      EXPECT_EQ(reads.Absent(), kAsked);
      EXPECT_EQ(reads.keys.FalsePositives(), measured.begin()->second.FalsePositives() +
                                                 measured.rbegin()->second.FalsePositives());
      EXPECT_DOUBLE_EQ(reads.WastedPer1000(),
                       1000.0 * static_cast<double>(reads.keys.FalsePositives()) / kAsked);
      ExpectPredicted(reads.keys, wasted / 1000.0 / kTables);
    }
    ASSERT_TRUE(db_->DropColumnFamily(more).ok());
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(more).ok());
    db_.reset();
    ASSERT_TRUE(rocksdb::DestroyDB(directory_.path("db"), options_).ok());
  }
}

// The rate of a run is not that of its mean bits per key.
TEST_F(MeasuredDatabase, ReadsOfARunWithUnlikeFiltersAreThePredictedOnes) {
  std::uint64_t first = 0;
  for (const char* policy : {"classic_bloom:16", "classic_bloom:2", "classic_bloom:0"}) {
    OpenWith(policy);
    PutAndFlush(*db_, kKeysOfTable, "value", first);
    MoveDown(*db_, 1);
    first += kKeysOfTable;
  }
  ASSERT_TRUE(FollowDatabase(db_.get()).ok());
  const auto predicted = PredictedOf(*db_, rocksdb::kDefaultColumnFamilyName);
  ASSERT_EQ(predicted.size(), 1U);
  EXPECT_EQ(predicted.at(1).tables, 3U);
  EXPECT_EQ(predicted.at(1).keys, 3 * kKeysOfTable);
  const FilterCounts counts = AskAbsent(*db_, 3 * kKeysOfTable);
  // Of a table without a filter all lookups read a data block, and none is counted.
  const double wasted = static_cast<double>(counts.data_blocks) / (3.0 * kKeysOfTable);
  EXPECT_NEAR(predicted.at(1).FalsePositiveRate(), wasted, 0.01);
  EXPECT_GT(wasted, 0.4);
}

TEST_F(MeasuredDatabase, PresentKeysAreFoundAndNotFalsePositives) {
  OpenWith("exactbloom:12");
  WriteTree(db_->DefaultColumnFamily());
  const MeasuredReads before = Measure();
  EXPECT_EQ(before.lookups, 0U);
  const CountedLevels counted;
  ExpectPresent(*db_, kTables * kKeysOfTable);
  const MeasuredReads reads = Measure().Since(before);
  EXPECT_EQ(reads.lookups, kTables * kKeysOfTable);
  EXPECT_EQ(reads.found, reads.lookups);
  EXPECT_TRUE(std::isnan(reads.WastedPer1000()));
  EXPECT_EQ(reads.keys.found, kTables * kKeysOfTable);
  std::uint64_t found = 0;
  for (const auto& [level, answers] : counted.Answers()) {
    const bool is_last = answers.denied == 0;  // every lookup that came so far found its key
    EXPECT_TRUE(is_last || answers.FalsePositiveRate() < 0.02) << level;
    found += answers.found;
  }
  EXPECT_EQ(found, kTables * kKeysOfTable);
}

// Ten numbers share a prefix, and in every other ten all are absent.
TEST_F(MeasuredDatabase, PrefixesHaveTheirOwnCounts) {
  OpenWith("classic_bloom:6");
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = NewFilterPolicy("classic_bloom:6");
  table_options.whole_key_filtering = false;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(KeyOf(0).size() - 1));
  db_.reset();
  db_ = Open(options_, directory_.path("db"));
  for (std::uint64_t i = 0; i <= kKeysOfTable; ++i)
    ASSERT_TRUE(db_->Put({}, KeyOf(20 * i), "value").ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  ASSERT_TRUE(FollowDatabase(db_.get()).ok());
  const auto predicted = PredictedOf(*db_, rocksdb::kDefaultColumnFamilyName);
  ASSERT_EQ(predicted.size(), 1U);

  MeasuredReads before = Measure();
  for (std::uint64_t i = 0; i < kKeysOfTable; ++i) {
    std::string value;
    ASSERT_TRUE(db_->Get({}, KeyOf(20 * i + 10), &value).IsNotFound());
  }
  MeasuredReads reads = Measure().Since(before);
  const bool are_apart = EXACTBLOOM_ROCKSDB_SINCE(8, 3);
  ExpectPredicted(are_apart ? reads.prefixes : reads.keys, predicted.at(0).FalsePositiveRate());
  EXPECT_EQ((are_apart ? reads.keys : reads.prefixes).passed, 0U);
  EXPECT_EQ(reads.seeks.denied + reads.seeks.passed, 0U);
  EXPECT_GT(reads.WastedPer1000(), 0.0);

  before = Measure();
  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options));
  for (std::uint64_t i = 0; i < kKeysOfTable; ++i) {
    iterator->Seek(KeyOf(20 * i + 10));
    ASSERT_FALSE(iterator->Valid());
  }
  reads = Measure().Since(before);
  ExpectPredicted(reads.seeks, predicted.at(0).FalsePositiveRate());
  EXPECT_EQ(reads.seeks.denied + reads.seeks.passed, kKeysOfTable);
  EXPECT_EQ(reads.lookups + reads.keys.passed + reads.prefixes.passed, 0U);
}

TEST(MeasuredLevels, AreNoneWithoutCounting) {
  std::thread([] { EXPECT_TRUE(MeasureLevels().empty()); }).join();
}

}  // namespace
}  // namespace exactbloom
