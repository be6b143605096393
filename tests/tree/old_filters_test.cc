// Filters that this process has not made: what is known of them, and what new ones get beside them.
#include <gtest/gtest.h>
#include <rocksdb/metadata.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

using Handle = rocksdb::ColumnFamilyHandle*;

// How a column family comes to have tables that it has not written since opening.
enum class Birth { kImport, kIngestion, kReopening };

std::string NameOf(Birth birth) {
  return birth == Birth::kImport      ? "Import"
         : birth == Birth::kIngestion ? "Ingestion"
                                      : "Reopening";
}

class BornFamily : public testing::TestWithParam<std::tuple<Birth, bool>> {
 protected:
  static constexpr std::uint64_t kKeys = 20'000;
  static constexpr std::uint64_t kBound = 40'000;

  ~BornFamily() override {
    if (born_ != nullptr) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(born_).ok());
    }
  }

  rocksdb::Options Options(std::uint64_t bound) const {
    ExactBloomOptions policy = BudgetOptions(bound, 10.0);
    policy.budget = bound == 0 ? "" : budget_;
    rocksdb::Options options = OptionsWith(PolicyOf(policy));
    options.listeners = {listener_};
    return options;
  }

  void Import() {
    const Database source = Open(Options(0), directory_.path("source"));
    PutAndFlush(*source, kKeys);
    rocksdb::Checkpoint* made = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(source.get(), &made).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    rocksdb::ExportImportFilesMetaData* exported = nullptr;
    ASSERT_TRUE(checkpoint
                    ->ExportColumnFamily(source->DefaultColumnFamily(), directory_.path("exported"),
                                         &exported)
                    .ok());
    const std::unique_ptr<rocksdb::ExportImportFilesMetaData> files(exported);
    ASSERT_TRUE(
        db_->CreateColumnFamilyWithImport(Options(kBound), "born", {}, *files, &born_).ok());
  }

  void Ingest() {
    ASSERT_TRUE(db_->CreateColumnFamily(Options(kBound), "born", &born_).ok());
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options(0));
    const std::string file = directory_.path("ingested.sst");
    ASSERT_TRUE(writer.Open(file).ok());
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(writer.Put(KeyOf(2 * i), "value").ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(db_->IngestExternalFile(born_, {file}, {}).ok());
  }

  void Reopen() {
    db_.reset();
    {
      const Database db = Open(Options(0), path_);
      Handle born = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(Options(0), "born", &born).ok());
      PutAndFlush(*db, kKeys, "value", 0, born);
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(born).ok());
    }
    std::vector<Handle> handles;
    const rocksdb::Options options = Options(kBound);
    ASSERT_TRUE(rocksdb::DB::Open(options, path_,
                                  {{rocksdb::kDefaultColumnFamilyName, options}, {"born", options}},
                                  &handles, Receive(&db_))
                    .ok());
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handles[0]).ok());
    born_ = handles[1];
    ASSERT_TRUE(FollowDatabase(db_.get()).ok());
  }

  const std::string budget_ = "born_" + NameOf(std::get<0>(GetParam())) +
                              (std::get<1>(GetParam()) ? "_followed" : "_flushed");
  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
  Database db_ = Open(Options(kBound), path_);
  Handle born_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Births, BornFamily,
                         testing::Combine(testing::Values(Birth::kImport, Birth::kIngestion,
                                                          Birth::kReopening),
                                          testing::Bool()),
                         [](const auto& test) {
                           return NameOf(std::get<0>(test.param)) +
                                  (std::get<1>(test.param) ? "Followed" : "Flushed");
                         });

TEST_P(BornFamily, CountsOnceItIsFollowedOrHasWrittenATable) {
  const auto [birth, is_followed] = GetParam();
  PutAndFlush(*db_, 100);
  ASSERT_TRUE(FollowDatabase(db_.get()).ok());
  if (birth == Birth::kImport) Import();
  if (birth == Birth::kIngestion) Ingest();
  if (birth == Birth::kReopening) Reopen();
  ASSERT_FALSE(HasFatalFailure());
  if (is_followed) {
    ASSERT_TRUE(FollowDatabase(db_.get(), {born_}).ok());
    EXPECT_EQ(FindDifference(*db_, [](const std::string&) { return Known::kAll; }), "");
  } else {
    PutAndFlush(*db_, 10, "value", kKeys, born_);
    ExpectKnownTrees(*db_, Known::kKeys);
  }
  const MemoryBudgetUse use = GetMemoryBudgetUse(budget_);
  EXPECT_EQ(use.families.size(), 2U);
  const auto truth = static_cast<double>(SumOf(TreesOf(*db_)).filter_bytes);
  EXPECT_NEAR(static_cast<double>(use.used_bytes), truth, is_followed ? 0.0 : 0.01 * truth);
  for (std::uint64_t i = 0; i < 3; ++i) PutAndFlush(*db_, kKeys, "value", i * kKeys);
  EXPECT_LE(SumOf(TreesOf(*db_)).filter_bytes, kBound);
}

// Filters have fewer keys than their tables have entries.
enum class Entries { kOfPrefixes, kOfVersions };

class ManyEntriesPerKey : public testing::TestWithParam<std::tuple<Entries, bool>> {
 protected:
  static constexpr int kEntries = 30;  // of a key of the filter

  static rocksdb::Options Options(std::uint64_t bound) {
    ExactBloomOptions policy = BudgetOptions(bound, 10.0);
    if (bound != 0) policy.budget = "entries";
    rocksdb::Options options = OptionsWith(PolicyOf(policy));
    if (std::get<0>(GetParam()) == Entries::kOfPrefixes) {
      rocksdb::BlockBasedTableOptions tables = PlannedSizes();
      tables.filter_policy = PolicyOf(policy);
      tables.whole_key_filtering = false;
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tables));
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(KeyOf(0).size()));
    }
    options.listeners = {NewTreeListener()};
    return options;
  }

  static void Write(rocksdb::DB& db, std::uint64_t first, std::uint64_t keys) {
    std::vector<const rocksdb::Snapshot*> snapshots;
    for (int entry = 0; entry < kEntries; ++entry) {
      const std::string suffix =
          std::get<0>(GetParam()) == Entries::kOfPrefixes ? std::to_string(entry) : "";
      for (std::uint64_t i = first; i < first + keys; ++i) {
        ASSERT_TRUE(db.Put({}, KeyOf(2 * i) + suffix, "value").ok());
      }
      snapshots.push_back(db.GetSnapshot());
    }
    ASSERT_TRUE(db.Flush({}).ok());
    for (const rocksdb::Snapshot* snapshot : snapshots) db.ReleaseSnapshot(snapshot);
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
};

INSTANTIATE_TEST_SUITE_P(
    Kinds, ManyEntriesPerKey,
    testing::Combine(testing::Values(Entries::kOfPrefixes, Entries::kOfVersions), testing::Bool()),
    [](const auto& test) {
      const bool prefixes = std::get<0>(test.param) == Entries::kOfPrefixes;
      return std::string(prefixes ? "Prefixes" : "Versions") +
             (std::get<1>(test.param) ? "Followed" : "");
    });

TEST_P(ManyEntriesPerKey, CountByTheBytesOfTheirFilters) {
  constexpr std::uint64_t kKeys = 2'000;
  constexpr std::uint64_t kNew = 100;
  {
    const Database db = Open(Options(0), path_);
    Write(*db, 0, kKeys);
  }
  const Database db = Open(Options(8'000), path_);
  if (std::get<1>(GetParam())) {
    ASSERT_TRUE(FollowDatabase(db.get()).ok());
  }
  const std::uint64_t old_bytes = SumOf(TreesOf(*db)).filter_bytes;
  for (std::uint64_t i = 0; i < 3; ++i) Write(*db, kKeys + i * kNew, kNew);
  const TableSum sum = SumOf(TreesOf(*db));
  EXPECT_GE(8.0 * static_cast<double>(sum.filter_bytes - old_bytes) / (3.0 * kNew), 12.0);
  const MemoryBudgetUse use = GetMemoryBudgetUse("entries");
  EXPECT_EQ(use.used_bytes, sum.filter_bytes);
  ASSERT_EQ(use.families.size(), 1U);
  EXPECT_EQ(use.families[0].tables_without_filter, 0U);
}

// Those of level 0 are read one by one, since each is a run, and of a family that is not followed
// none is: its deeper runs count with bits_per_key, whatever the flushed tables have.
TEST(OldFilters, EachFlushedTableIsReadAndWhatIsNotReadCountsAsThePolicySays) {
  constexpr std::uint64_t kTables = 70;
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(PolicyOf(AutoOptions()));
  options.listeners = {NewTreeListener()};
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1'000;
  const std::string path = directory.path("db");
  {
    const Database db = Open(options, path);
    Handle two = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "two", &two).ok());
    for (std::uint64_t i = 0; i < kTables; ++i) {
      const std::uint64_t keys = i % 2 == 0 ? 50 : 1'000;
      for (std::uint64_t key = 0; key < keys; ++key) {
        ASSERT_TRUE(db->Put({}, "table " + std::to_string(100 + i) + KeyOf(key), "value").ok());
      }
      ASSERT_TRUE(db->Flush({}).ok());
    }
    PutAndFlush(*db, 60'000, "value", 0, two);
    rocksdb::CompactRangeOptions last;
    last.change_level = true;
    last.target_level = 6;
    ASSERT_TRUE(db->CompactRange(last, two, nullptr, nullptr).ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(two).ok());
  }
  std::vector<Handle> handles;
  Database db;
  ASSERT_TRUE(rocksdb::DB::Open(options, path, {{"default", options}, {"two", options}}, &handles,
                                Receive(&db))
                  .ok());
  for (int i = 0; i < 4; ++i) PutAndFlush(*db, 1'000, "value", 0, handles[1]);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  std::uint64_t bytes = 0;
  for (const SortedRuns& runs : GetSortedRuns(*db)) {
    if (runs.column_family == "default") bytes += runs.filter_bytes;
    if (runs.level == 6) {
      EXPECT_NEAR(static_cast<double>(runs.filter_bytes), 75'000.0, 1'500.0);
    }
  }
  EXPECT_EQ(bytes, SumOf(TreesOf(*db).at("default")).filter_bytes);
  for (const Handle handle : handles) EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

// Flushes of ascending keys belong to the largest run, which a restart does not change.
class AscendingRestarts : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Bounds, AscendingRestarts, testing::Values(0, 60'000),
                         [](const auto& test) { return test.param == 0 ? "None" : "Bound"; });

TEST_P(AscendingRestarts, KeepTheAverageAndTheBound) {
  constexpr std::uint64_t kSessions = 25;
  constexpr std::uint64_t kKeys = 1000;
  const std::uint64_t bound = GetParam();
  const TemporaryDirectory directory;
  double most = 0.0;
  for (std::uint64_t session = 0; session < kSessions; ++session) {
    ExactBloomOptions policy = BudgetOptions(bound, 10.0);
    if (bound != 0) policy.budget = "ascending";
    const Database db =
        Open(FollowingOptions(PolicyOf(policy), NewTreeListener()), directory.path("db"));
    PutAndFlush(*db, kKeys, "value", session * kKeys);
    AwaitQuiet(*db);
    const TableSum sum = SumOf(TreesOf(*db));
    if (session >= 3) most = std::max(most, sum.BitsPerKey());
    if (bound != 0) {
      EXPECT_LE(sum.filter_bytes, bound);
    }
  }
  // 0.35 bits are the trailer, and what arrays are rounded up to.
  EXPECT_LE(most, 10.95);
  EXPECT_GE(most, 9.8);
}

// RocksDB opens few files of a large level, and tells no keys of the others. Values were large
// there and are small in new tables.
TEST(FewOpenFiles, KeysOfALevelFollowFromTablesOfTheSameLevel) {
  constexpr std::uint64_t kOld = 2'000;
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(PolicyOf(AutoOptions()));
  options.listeners = {NewTreeListener()};
  options.compression = rocksdb::kNoCompression;
  options.target_file_size_base = 64 << 10;
  {
    const Database db = Open(options, directory.path("db"));
    PutAndFlush(*db, kOld, std::string(3'000, 'v'));
    ASSERT_TRUE(ForceCompaction(*db).ok());
    ASSERT_GT(SumOf(TreesOf(*db)).tables, 64U);
  }
  options.max_open_files = 12;
  for (const bool is_followed : {false, true}) {
    SCOPED_TRACE(is_followed);
    const Database db = Open(options, directory.path("db"));
    if (is_followed) {
      ASSERT_TRUE(FollowDatabase(db.get()).ok());
    }
    PutAndFlush(*db, 2 * kOld, "v", kOld);
    for (const SortedRuns& runs : GetSortedRuns(*db)) {
      if (runs.level != 0) {
        EXPECT_NEAR(static_cast<double>(runs.keys), kOld, 0.25 * kOld);
      }
    }
  }
}

}  // namespace
}  // namespace exactbloom
