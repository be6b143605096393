// Databases with and without the tree listener, and what has no tree.
#include "exactbloom/tree_listener.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/db_ttl.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter.h"
#include "followed_database.h"
#include "listed_filters.h"
#include "plugin/live_tree/listing.h"
#include "plugin/live_tree/sized_table.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

constexpr std::uint64_t kKeys = 2'000;

void ExpectNoListener(const Status& status) {
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  for (const char* word : {"tree listener", "listeners=exactbloom_tree", "NewTreeListener"}) {
    EXPECT_NE(status.ToString().find(word), std::string::npos) << status.ToString();
  }
}

class WithoutListener : public testing::TestWithParam<ExactBloomOptions> {
 protected:
  rocksdb::Options Options() const { return OptionsWith(PolicyOf(GetParam())); }
  rocksdb::Options WithListener() const {
    rocksdb::Options options = Options();
    options.listeners.push_back(NewTreeListener());
    return options;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
};

INSTANTIATE_TEST_SUITE_P(Policies, WithoutListener,
                         testing::Values(AutoOptions(), BudgetOptions(1 << 30, 10.0)),
                         [](const auto& test) {
                           return test.param.memory_budget.text() == "0" ? "Auto" : "Budget";
                         });

TEST_P(WithoutListener, ADatabaseIsNotOpened) {
  Database db;
  ExpectNoListener(rocksdb::DB::Open(Options(), path_, Receive(&db)));
  // Another listener is none.
  rocksdb::Options options = Options();
  options.listeners = {nullptr, std::make_shared<FilterWatch>(0)};
  options.listeners.erase(options.listeners.begin());
  ExpectNoListener(rocksdb::DB::Open(options, path_, Receive(&db)));
}

// RocksDB does not ask whether the options of a new family are valid.
TEST_P(WithoutListener, AFamilyThatIsCreatedDividesFlatAndTheLogSaysSo) {
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path_);
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(Options(), "more", &family).ok());
  PutAndFlush(*db, kKeys, "value", 0, family);
  PutAndFlush(*db, kKeys / 10, "value", kKeys, family);
  // With trailers and whole lines.
  EXPECT_NEAR(SumOf(TreesOf(*db).at("more")).BitsPerKey(), 10.2, 0.3);
  EXPECT_NE(ReadLog(path_).find("column family [more]: the tree is not known, so all tables get 10 "
                                "bits per key"),
            std::string::npos);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

TEST_P(WithoutListener, SstFileWriterDividesFlat) {
  for (const rocksdb::Options& options : {Options(), WithListener()}) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    const std::string file = directory_.path("table.sst");
    ASSERT_TRUE(writer.Open(file).ok());
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(writer.Put(KeyOf(2 * i), "value").ok());
    ASSERT_TRUE(writer.Finish().ok());
    TableFilter filter;
    ASSERT_TRUE(ReadTableFilter(*rocksdb::FileSystem::Default(), file, &filter).ok());
    EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
    const FilterBuilder builder = *FilterBuilder::Create({FilterKind::kClassicBloom});
    EXPECT_EQ(filter.bits, builder.Plan(kKeys).Description().bits);
  }
}

// It writes the table of the log as opening does.
TEST_P(WithoutListener, ARepairKnowsNoTree) {
  {
    const Database db = Open(WithListener(), path_);
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(db->Put({}, KeyOf(2 * i), "value").ok());
  }
  const Status status = rocksdb::RepairDB(path_, Options());
  ASSERT_TRUE(status.ok()) << status.ToString();
  const Database db = Open(WithListener(), path_);
  const TableSum sum = SumOf(TreesOf(*db));
  EXPECT_EQ(sum.keys, kKeys);
  EXPECT_NEAR(sum.BitsPerKey(), tree::BitsOfRecovered(10.0, kKeys), 0.5);
  ExpectPresent(*db, kKeys);
}

TEST_P(WithoutListener, ReadersReadWithFilters) {
  const Database writer = Open(WithListener(), path_);
  PutAndFlush(*writer, kKeys);
  for (const bool secondary : {false, true}) {
    for (const bool listens : {false, true}) {
      SCOPED_TRACE(testing::Message() << secondary << " " << listens);
      const rocksdb::Options options = listens ? WithListener() : Options();
      Database reader;
      const Status status =
          secondary ? rocksdb::DB::OpenAsSecondary(options, path_, directory_.path("secondary"),
                                                   Receive(&reader))
                    : rocksdb::DB::OpenForReadOnly(options, path_, Receive(&reader));
      ASSERT_TRUE(status.ok()) << status.ToString();
      ExpectPresent(*reader, kKeys);
      ExpectFiltering(AskAbsent(*reader, kKeys - 1), kKeys - 1);
    }
  }
}

class TreeListener : public testing::Test {
 protected:
  Database OpenWithATable() const {
    rocksdb::Options options = OptionsWith(PolicyOf(AutoOptions()));
    options.listeners.push_back(listener_);
    Database db = Open(options, path_);
    PutAndFlush(*db, kKeys);
    return db;
  }
  // A job that RocksDB does not run.
  static rocksdb::CompactionJobInfo Compaction() {
    rocksdb::CompactionJobInfo info;
    info.cf_id = 0;
    info.cf_name = rocksdb::kDefaultColumnFamilyName;
    info.job_id = 1000;
    return info;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
};

// A compaction service returns tables without properties.
TEST_F(TreeListener, ACompactionMayReportTablesWithoutProperties) {
  const Database db = OpenWithATable();
  rocksdb::CompactionJobInfo info = Compaction();
  info.output_files = {TableFilesIn(path_)[0].string()};
  info.output_file_infos.emplace_back();
  info.table_properties[info.output_files[0]] = nullptr;
  listener_->OnCompactionCompleted(db.get(), info);
  ExpectKnownTrees(*db);
}

TEST_F(TreeListener, ACompactionThatFailsLeavesItsInputs) {
  const Database db = OpenWithATable();
  rocksdb::CompactionJobInfo info = Compaction();
  info.compaction_reason = rocksdb::CompactionReason::kLevelL0FilesNum;
  info.output_level = 1;
  info.input_files = {TableFilesIn(path_)[0].string()};
  info.input_file_infos.push_back({0, tree::ParseNumber(info.input_files[0]), 0});
  listener_->OnCompactionBegin(db.get(), info);
  info.status = Status::IOError();
  listener_->OnCompactionCompleted(db.get(), info);
  const std::vector<SortedRuns> runs = GetSortedRuns(*db);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].keys, kKeys);
}

// RocksDB makes them before there is a database to ask. Small ones get the bits of a small run, but
// in a FIFO database, where all runs become equal.
TEST_F(TreeListener, TablesOfRecoveredLogsGetTheBitsOfTheirSize) {
  EXPECT_NEAR(tree::BitsOfRecovered(10.0, 137.0), 18.0, 1e-9);
  EXPECT_NEAR(tree::BitsOfRecovered(10.0, 1e3), 14.1, 0.01);
  EXPECT_NEAR(tree::BitsOfRecovered(10.0, 1e6), 10.0, 1e-9);
  struct Case {
    std::uint64_t logged;
    bool is_fifo;
    double bits;
  };
  for (const auto& [logged, is_fifo, bits] :
       {Case{10 * kKeys, false, 10.2}, Case{137, false, 18.0}, Case{137, true, 10.0}}) {
    SCOPED_TRACE(logged);
    const TemporaryDirectory directory;
    rocksdb::Options options = OptionsWith(PolicyOf(AutoOptions()));
    options.listeners.push_back(listener_);
    options.avoid_flush_during_recovery = false;
    if (is_fifo) options.compaction_style = rocksdb::kCompactionStyleFIFO;
    if (is_fifo) options.max_open_files = -1;
    {
      const Database db = Open(options, directory.path("db"));
      for (std::uint64_t i = 0; i < logged; ++i) {
        ASSERT_TRUE(db->Put({}, KeyOf(2 * i), "value").ok());
      }
    }
    const Database db = Open(options, directory.path("db"));
    ExpectPresent(*db, logged);
    // The bytes of a small filter have a trailer, and may be rounded up.
    const double bytes = bits * static_cast<double>(logged) / 8.0;
    const TableSum sum = SumOf(TreesOf(*db));
    EXPECT_GE(static_cast<double>(sum.filter_bytes), 0.98 * bytes);
    EXPECT_LE(static_cast<double>(sum.filter_bytes), 1.02 * bytes + 84.0);
  }
}

TEST_F(TreeListener, TablesOfRecoveredLogsAreKnownOnceTheDatabaseIsFollowed) {
  constexpr std::uint64_t kLogged = 10 * kKeys;
  for (const bool ribbon : {false, true}) {
    const TemporaryDirectory directory;
    ExactBloomOptions policy = AutoOptions();
    policy.ribbon = ribbon;
    rocksdb::Options options = OptionsWith(PolicyOf(policy));
    options.listeners.push_back(listener_);
    options.avoid_flush_during_recovery = false;
    {
      const Database db = Open(options, directory.path("db"));
      PutAndFlush(*db, kKeys);
      for (std::uint64_t i = 0; i < kLogged; ++i) {
        ASSERT_TRUE(db->Put({}, KeyOf(2 * (kKeys + i)), "value").ok());
      }
    }
    const Database db = Open(options, directory.path("db"));
    ExpectPresent(*db, kKeys + kLogged);
    for (const ListedFilter& table : ListTableFilters(*db)) {
      if (table.filter_keys != kLogged) continue;
      const FilterBlocks blocks = ReadFilterBlocks(*db, table.path).value();
      EXPECT_EQ(ribbon ? blocks.ribbon : blocks.bloom, 1U);
      EXPECT_NEAR(8.0 * static_cast<double>(table.bytes) / kLogged, 10.0, 0.3);
    }
    EXPECT_EQ(ReadLog(directory.path("db")).find("the tree is not known"), std::string::npos);
    ASSERT_TRUE(FollowDatabase(db.get()).ok());
    ExpectKnownTrees(*db);
  }
}

TEST_F(TreeListener, OfAnOptionsFileIsTheSame) {
  RegisterFilterPolicies();
  const std::string file = directory_.path("options.ini");
  std::ofstream(file) << "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n"
                         "[DBOptions]\ncreate_if_missing=true\nlisteners=exactbloom_tree\n"
                         "[CFOptions \"default\"]\n"
                         "[TableOptions/BlockBasedTable \"default\"]\n"
                         "filter_policy={id=exactbloom;memory_budget=2MiB}\n";
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const Status status = rocksdb::LoadOptionsFromFile({}, file, &db_options, &families);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(db_options.listeners.size(), 1U);
  EXPECT_STREQ(db_options.listeners[0]->Name(), kTreeListenerName);
  rocksdb::Options options(db_options, families[0].options);
  ASSERT_NE(exactbloom::PolicyOf(options), nullptr);
  EXPECT_EQ(exactbloom::PolicyOf(options)->ToString({}),
            "{id=exactbloom;bits_per_key=10;memory_budget=2M}");
  {
    const Database db = Open(options, path_);
    PutAndFlush(*db, kKeys);
    ExpectKnownTrees(*db);
  }
  // The database's own OPTIONS file has the listener, too.
  rocksdb::DBOptions loaded;
  std::vector<rocksdb::ColumnFamilyDescriptor> loaded_families;
  ASSERT_TRUE(rocksdb::LoadLatestOptions({}, path_, &loaded, &loaded_families).ok());
  ASSERT_EQ(loaded.listeners.size(), 1U);
  const Database again = Open(rocksdb::Options(loaded, loaded_families[0].options), path_);
  ExpectPresent(*again, kKeys);
}

TEST_F(TreeListener, FollowDatabaseNeedsAListenerAndAWriter) {
  const auto followed = [&](rocksdb::DB& db) { return !GetSortedRuns(db).empty(); };
  const rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions()), listener_);
  {
    const Database db = Open(options, path_);
    PutAndFlush(*db, kKeys);
  }
  rocksdb::Options silent = OptionsWith(NewPolicy(BloomKind::kClassic));
  {
    const Database db = Open(silent, path_);
    ExpectNoListener(FollowDatabase(db.get()));
    EXPECT_FALSE(followed(*db));
  }
  const Database writer = Open(options, path_);
  ASSERT_TRUE(FollowDatabase(writer.get()).ok());
  EXPECT_TRUE(followed(*writer));
  for (const bool secondary : {false, true}) {
    Database reader;
    const Status status = secondary
                              ? rocksdb::DB::OpenAsSecondary(
                                    options, path_, directory_.path("secondary"), Receive(&reader))
                              : rocksdb::DB::OpenForReadOnly(options, path_, Receive(&reader));
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(FollowDatabase(reader.get()).ok());
    EXPECT_FALSE(followed(*reader)) << secondary;
    reader.reset();
    EXPECT_TRUE(followed(*writer)) << "the writer is followed on";
  }
  rocksdb::DBWithTTL* with_ttl = nullptr;
  ASSERT_TRUE(rocksdb::DBWithTTL::Open(options, directory_.path("ttl"), &with_ttl).ok());
  const std::unique_ptr<rocksdb::DB> stacked(with_ttl);
  PutAndFlush(*stacked, kKeys);
  EXPECT_TRUE(FollowDatabase(stacked.get()).ok());
  EXPECT_TRUE(followed(*stacked));
}

// A family of another policy does not count in a budget; tables without a filter change nothing.
TEST_F(TreeListener, ABudgetKnowsWhoseAFamilyIs) {
  rocksdb::Options options = FollowingOptions(PolicyOf(BudgetOptions(10'000)), listener_);
  rocksdb::Options others = FollowingOptions(NewPolicy(BloomKind::kClassic), listener_);
  const Database db = Open(options, path_);
  rocksdb::ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(others, "others", &more).ok());
  Load(*db, 10 * kKeys, 0, more);
  Load(*db, kKeys);
  const Trees trees = TreesOf(*db);
  EXPECT_GT(SumOf(trees.at("others")).filter_bytes, 20'000U);
  EXPECT_NEAR(SumOf(trees.at("default")).BitsPerKey(), 20.0, 1.0);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

// The table that a family made last may have no filter, which no policy was asked for.
TEST_F(TreeListener, ABudgetCountsFamiliesWhoseLastLevelHasNoFilters) {
  constexpr std::uint64_t kBudget = 8'000;
  rocksdb::Options options = FollowingOptions(PolicyOf(BudgetOptions(kBudget)), listener_);
  options.disable_auto_compactions = true;
  options.optimize_filters_for_hits = true;
  options.num_levels = 2;
  const Database db = Open(options, path_);
  rocksdb::ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
  PutAndFlush(*db, kKeys / 10, "value", kKeys, more);
  PutAndFlush(*db, kKeys, "value", 0, more);
  rocksdb::ColumnFamilyMetaData tree;
  db->GetColumnFamilyMetaData(more, &tree);
  ASSERT_EQ(tree.levels[0].files.size(), 2U);
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;
  const std::string older = tree.levels[0].files.back().relative_filename;
  ASSERT_TRUE(db->CompactFiles(compaction, more, {older}, 1).ok());
  EXPECT_EQ(SumOf(TreesOf(*db).at("more")).tables, 2U);
  PutAndFlush(*db, kKeys);
  EXPECT_LE(SumOf(TreesOf(*db)).filter_bytes, kBudget * 103 / 100);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

// The info log of a database that is opened again may have the address of its former one.
TEST_F(TreeListener, EachOpenedDatabaseLogsItsFilters) {
  const PolicyPointer policies[] = {PolicyOf(AutoOptions()), NewPolicy(BloomKind::kClassic)};
  for (const PolicyPointer& policy : policies) {
    const TemporaryDirectory directory;
    for (std::uint64_t i = 0; i < 10; ++i) {
      SCOPED_TRACE(i);
      const Database db = Open(FollowingOptions(policy, listener_), directory.path("db"));
      PutAndFlush(*db, kKeys, "value", i * kKeys);
      const std::string log = ReadLog(directory.path("db"));
      EXPECT_NE(log.find(", kernel "), std::string::npos);
      EXPECT_EQ(log.find(" bits per key; plan: ") != std::string::npos, policy == policies[0]);
    }
  }
}

// With per-key placement a compaction writes tables of two levels in turns. A second listener
// reports each table once more.
TEST_F(TreeListener, AThreadMayWriteTwoTablesAtOnce) {
  const auto report = [&](int table, bool is_finished) {
    rocksdb::TableFileCreationInfo info;
    info.db_name = path_;
    info.cf_name = rocksdb::kDefaultColumnFamilyName;
    info.file_path = path_ + "/00100" + std::to_string(table) + ".sst";
    info.job_id = 1'000'000;
    info.reason = rocksdb::TableFileCreationReason::kCompaction;
    info.table_properties.filter_size = 1000;
    for (const ListenerPointer& listener : {listener_, NewTreeListener()}) {
      is_finished ? listener->OnTableFileCreated(info) : listener->OnTableFileCreationStarted(info);
    }
  };
  const PolicyPointer policy = PolicyOf(AutoOptions());
  const auto sized = [&] {
    const rocksdb::BlockBasedTableOptions table_options;
    rocksdb::FilterBuildingContext context(table_options);
    context.column_family_name = rocksdb::kDefaultColumnFamilyName;
    context.reason = rocksdb::TableFileCreationReason::kCompaction;
    context.level_at_creation = 6;
    return tree::SizedTable::Begin({}, context) != nullptr;
  };
  const Database db = Open(FollowingOptions(policy, listener_), path_);
  PutAndFlush(*db, kKeys);
  EXPECT_FALSE(sized());
  for (int table = 0; table < 2; ++table) {
    report(table, false);
    EXPECT_TRUE(sized());
  }
  report(1, true);
  EXPECT_TRUE(sized()) << "of the first one";
  report(0, true);
  EXPECT_FALSE(sized());
}

}  // namespace
}  // namespace exactbloom
