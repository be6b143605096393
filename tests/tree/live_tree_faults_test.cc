// What went wrong in live trees before, each by itself.
#include "live_tree_faults.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/stackable_db.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/live_tree/listing.h"
#include "plugin/live_tree/registry.h"
#include "src/model/wasted_reads.h"

namespace exactbloom {
namespace {

// RocksDB validates the options of the new family.
TEST_F(LiveTreeFaults, ACreatedFamilyChangesNoBoundAndItsFirstTableIsSized) {
  constexpr std::uint64_t kKeys = 4'000;
  ExactBloomOptions policy = BudgetOptions(100'000);
  policy.budget = "created";
  const rocksdb::Options options = Options(policy);
  const Database db = Open(options, path_);
  PutAndFlush(*db, kKeys);
  ASSERT_TRUE(SetMemoryBudget("created", "12000").ok());
  rocksdb::ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
  EXPECT_EQ(GetMemoryBudgetUse("created").bound_bytes, 12'000U);
  PutAndFlush(*db, kKeys, "value", 0, more);
  EXPECT_EQ(GetMemoryBudgetUse("created").bound_bytes, 12'000U);
  const std::uint64_t of_first = SumOf(TreesOf(*db).at("default")).filter_bytes;
  EXPECT_LE(SumOf(TreesOf(*db).at("more")).filter_bytes, of_first < 12'000 ? 12'000 - of_first : 6);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

TEST_F(LiveTreeFaults, TheUseOfAMisspeltBudgetMakesNone) {
  const MemoryBudgetUse use = GetMemoryBudgetUse("misspelt");
  EXPECT_EQ(use.bound_bytes + use.used_bytes + use.families.size(), 0U);
  const auto lock = tree::Registry::Get().Lock();
  EXPECT_EQ(tree::Registry::Get().FindBudget("misspelt"), nullptr);
}

// Its compactions of ascending keys move tables beside others that are in the output level already.
TEST_F(LiveTreeFaults, UniversalCompactionThatMovesTablesKeepsAll) {
  rocksdb::Options options = Options(AutoOptions());
  options.disable_auto_compactions = false;
  options.compaction_style = rocksdb::kCompactionStyleUniversal;
  options.compaction_options_universal.allow_trivial_move = true;
  const Database db = Open(options, path_);
  for (std::uint64_t i = 0; i < 24; ++i) PutAndFlush(*db, 200, "value", 400 * i);
  AwaitQuiet(*db);
  EXPECT_EQ(SumOf(TreesOf(*db)).keys, 24U * 200U);
  EXPECT_EQ(FindDifference(*db, [](const std::string&) { return Known::kAll; }), "");
}

// Otherwise its next flush would forget what has been read of the tables of an imported one.
TEST_F(LiveTreeFaults, AFamilyUnderADroppedNameIsFollowedByItsId) {
  const Database db = Open(Options(AutoOptions()), path_);
  for (int i = 0; i < 2; ++i) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "again", &family).ok());
    ASSERT_TRUE(FollowDatabase(db.get(), {family}).ok());
    const auto database = tree::Registry::Get().Find(*db);
    {
      const auto lock = database->Lock();
      EXPECT_EQ(database->Find("again")->id, family->GetID());
    }
    PutAndFlush(*db, 100, "value", 0, family);
    ASSERT_TRUE(db->DropColumnFamily(family).ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
}

// Counts what it is told, and asks what needs the lock of all live trees.
class AskingLogger : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list /*arguments*/) override {
    if (std::string(format).find("exactbloom") == std::string::npos) return;
    GetMemoryBudgetUse("asked");
    ++lines_;
  }
  int Lines() const { return lines_; }

 private:
  std::atomic<int> lines_ = 0;
};

TEST_F(LiveTreeFaults, NothingIsLoggedUnderTheLock) {
  ExactBloomOptions policy = BudgetOptions(1'000);
  policy.budget = "asked";
  const auto logger = std::make_shared<AskingLogger>();
  rocksdb::Options options = Options(policy);
  options.info_log = logger;
  const Database db = Open(options, path_);
  for (std::uint64_t i = 0; i < 3; ++i) PutAndFlush(*db, 2'000, "value", 2'000 * i);
  EXPECT_GE(logger->Lines(), 3) << "the policy, the bound, the plan";
}

// A program may have ever new families.
TEST_F(LiveTreeFaults, APolicyForgetsWhichFamiliesItLogged) {
  const rocksdb::BlockBasedTableOptions tables = PlannedSizes();
  const BloomFilterPolicy policy((PolicyOptions(PolicyKind::kClassicBloom)));
  const auto logger = std::make_shared<AskingLogger>();
  const auto build = [&](const std::string& family) {
    rocksdb::FilterBuildingContext context(tables);
    context.column_family_name = family;
    context.info_log = logger.get();
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
  };
  build("first");
  build("first");
  EXPECT_EQ(logger->Lines(), 1);
  for (int i = 0; i < 1'100; ++i) build("family" + std::to_string(i));
  EXPECT_EQ(logger->Lines(), 1'101);
  build("first");
  EXPECT_EQ(logger->Lines(), 1'102);
}

// The info log of a later opening may have the address of one that is gone.
TEST_F(LiveTreeFaults, APolicyWarnsAgainOnceItsDatabaseIsOpenedAgain) {
  const rocksdb::BlockBasedTableOptions tables = PlannedSizes();
  const BloomFilterPolicy policy((PolicyOptions(PolicyKind::kExactBloom)));
  const auto logger = std::make_shared<AskingLogger>();
  rocksdb::FilterBuildingContext context(tables);
  context.reason = rocksdb::TableFileCreationReason::kFlush;
  context.info_log = logger.get();
  rocksdb::DBOptions options;
  options.listeners = {listener_};
  for (int opening = 1; opening <= 2; ++opening) {
    EXPECT_TRUE(policy.ValidateOptions(options, rocksdb::ColumnFamilyOptions()).ok());
    for (int table = 0; table < 2; ++table) {
      const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
          policy.GetBuilderWithContext(context));
    }
    EXPECT_EQ(logger->Lines(), 2 * opening) << "the policy, and that the tree is not known";
  }
}

// RocksDB tells the keys of few tables when few may be open; those of the others follow from their
// bytes.
TEST_F(LiveTreeFaults, TablesOfOneKeyDoNotDistortWhatIsNotKnown) {
  constexpr std::uint64_t kKeys = 40'000;
  constexpr std::uint64_t kSmall = 30;
  rocksdb::Options options = Options(AutoOptions());
  options.level0_file_num_compaction_trigger = 1'000;
  options.target_file_size_base = 16 << 10;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1'000;
  options.max_open_files = 20;
  for (const bool follows : {false, true}) {
    SCOPED_TRACE(follows);
    const TemporaryDirectory directory;
    Database db = Open(options, directory.path("db"));
    Load(*db, kKeys);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    for (std::uint64_t i = 0; i < kSmall; ++i) PutAndFlush(*db, 1, "value", kKeys + i);
    db.reset();
    db = Open(options, directory.path("db"));
    if (follows) {
      ASSERT_TRUE(FollowDatabase(db.get()).ok());
    }
    PutAndFlush(*db, kKeys / 10, "value", 2 * kKeys);
    const auto truth = static_cast<double>(SumOf(TreesOf(*db)).keys);
    const auto off = [&] {
      double keys = 0.0;
      for (const SortedRuns& runs : GetSortedRuns(*db)) keys += static_cast<double>(runs.keys);
      return std::abs(keys / truth - 1.0);
    };
    if (follows) {
      EXPECT_LE(off(), 0.1);
      continue;
    }
    // The first table of a session tells how many keys there are in a byte, in a later snapshot.
    for (std::uint64_t i = 0; i < 100 && off() > 0.3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      PutAndFlush(*db, 1, "value", 3 * kKeys + i);
    }
    EXPECT_LE(off(), 0.3);
  }
}

// Of a family with few tables all filters are known at once.
TEST_F(LiveTreeFaults, FollowDatabaseReadsTheFiltersOfAllTablesIfTheyAreFew) {
  const rocksdb::Options options = Options(AutoOptions());
  {
    const Database db = Open(options, path_);
    Load(*db, 60'000);
    ASSERT_GT(SumOf(TreesOf(*db)).tables, 9U);
    ASSERT_LE(SumOf(TreesOf(*db)).tables, 64U);
  }
  const Database db = Open(options, path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  EXPECT_EQ(FindDifference(*db, [](const std::string&) { return Known::kAll; }), "");
}

// A flush that overwrites its keys many times has the filter of one that writes them once, also
// where snapshots keep all versions.
TEST_F(LiveTreeFaults, AFlushIsSizedByItsKeysAndNotByItsEntries) {
  constexpr std::uint64_t kLarge = 40'000;
  constexpr std::uint64_t kSmall = 300;
  for (const bool has_partitions : {false, true}) {
    SCOPED_TRACE(has_partitions);
    rocksdb::BlockBasedTableOptions tables = PlannedSizes();
    tables.filter_policy = PolicyOf(AutoOptions());
    if (has_partitions) PartitionFilters(4'096, &tables);
    rocksdb::Options options = OptionsWith(tables);
    options.listeners = {listener_};
    const auto bits_of = [&](int writes, bool keeps_versions) {
      const TemporaryDirectory directory;
      Database db = Open(options, directory.path("db"));
      PutAndFlush(*db, kLarge);
      MoveDown(*db, 6);
      db.reset();
      db = Open(options, directory.path("db"));
      std::vector<const rocksdb::Snapshot*> snapshots;
      for (int i = 0; i < writes; ++i) {
        for (std::uint64_t key = 0; key < kSmall; ++key) {
          EXPECT_TRUE(db->Put({}, KeyOf(2 * key), "value").ok());
        }
        if (keeps_versions) snapshots.push_back(db->GetSnapshot());
      }
      EXPECT_TRUE(db->Flush({}).ok());
      for (const rocksdb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
      return TreesOf(*db).at("default").at(0).BitsPerKey();
    };
    const double once = bits_of(1, false);
    EXPECT_GT(once, 18.0);
    EXPECT_EQ(bits_of(20, false), once);
    // Versions make more index partitions, and so more filter partitions.
    EXPECT_NEAR(bits_of(20, true), once, has_partitions ? 2.5 : 0.0);
  }
}

// A path names a database only within its file system.
TEST_F(LiveTreeFaults, DatabasesOfOnePathInSeveralEnvsDoNotTouchEachOther) {
  constexpr std::uint64_t kBound = 20'000;
  ExactBloomOptions policy = BudgetOptions(kBound, 10.0);
  policy.budget = "one_path";
  std::vector<std::unique_ptr<rocksdb::Env>> envs;
  std::vector<Database> databases;
  for (int i = 0; i < 4; ++i) {
    rocksdb::Options options = Options(policy);
    if (i != 0) options.env = envs.emplace_back(rocksdb::NewMemEnv(rocksdb::Env::Default())).get();
    databases.push_back(Open(options, path_));
  }
  for (std::uint64_t i = 0; i < 40; ++i) {
    rocksdb::DB& db = *databases[i * 7 % 4];
    if (i % 10 == 9) {
      EXPECT_TRUE(ForceCompaction(db).ok());
    } else {
      PutAndFlush(db, i % 3 == 0 ? 10 : 1'000, "value", i * 1'000);
    }
    AwaitQuiet(db);
    std::uint64_t sum = 0;
    for (const Database& other : databases) sum += SumOf(TreesOf(*other)).filter_bytes;
    EXPECT_EQ(GetMemoryBudgetUse("one_path").used_bytes, sum) << i;
    EXPECT_LE(sum, kBound * 102 / 100);
  }
  // Of which only table events tell.
  for (const Database& db : databases) {
    PutAndFlush(*db, 10);
    AwaitQuiet(*db);
    EXPECT_EQ(CompactAllFiles(*db, db->DefaultColumnFamily()).ToString(), "OK");
    ExpectKnownTrees(*db, Known::kKeys);
  }
  databases.clear();
  EXPECT_EQ(GetMemoryBudgetUse("one_path").used_bytes, 0U);
}

// Databases in several file systems have the same numbers of jobs.
TEST_F(LiveTreeFaults, ATableOfAJobThatTwoDatabasesOfOnePathRunIsOfNone) {
  ExactBloomOptions policy = BudgetOptions(1'000'000, 10.0);
  policy.budget = "two_writers";
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options = Options(policy);
  const Database first = Open(options, path_);
  options.env = env.get();
  const Database second = Open(options, path_);
  for (const Database* db : {&first, &second}) PutAndFlush(**db, 1'000);
  const auto take = [&](int job, const std::vector<rocksdb::DB*>& runners) {
    rocksdb::FlushJobInfo flush;
    flush.cf_id = 0;
    flush.cf_name = rocksdb::kDefaultColumnFamilyName;
    flush.job_id = job;
    flush.thread_id = static_cast<std::uint64_t>(job);
    for (rocksdb::DB* db : runners) listener_->OnFlushBegin(db, flush);
    const std::uint64_t used = GetMemoryBudgetUse("two_writers").used_bytes;
    const auto builder = BeginTable(*first, job);
    for (int key = 0; key < 1'000; ++key) builder->AddKey(std::to_string(key));
    std::unique_ptr<const char[]> buffer;
    builder->Finish(&buffer);
    return GetMemoryBudgetUse("two_writers").used_bytes - used;
  };
  EXPECT_GT(take(5'001, {second.get()}), 1'000U);
  EXPECT_EQ(take(5'002, {first.get(), second.get()}), 0U);
}

// The worker of a compaction service has the primary's path, and numbers of its own.
TEST_F(LiveTreeFaults, TablesOfACompactionServicesWorkerAreNotTheDatabases) {
  ExactBloomOptions policy = BudgetOptions(1'000'000, 10.0);
  policy.budget = "worker";
  rocksdb::Options options = Options(policy);
  options.disable_auto_compactions = true;
  const Database db = Open(options, path_);
  for (std::uint64_t i = 0; i < 2; ++i) PutAndFlush(*db, 1'000, "value", i * 1'000);
  const std::uint64_t used = GetMemoryBudgetUse("worker").used_bytes;
  for (int number = 1; number < 60; ++number) {
    rocksdb::TableFileCreationInfo table;
    table.db_name = path_;
    table.cf_name = rocksdb::kDefaultColumnFamilyName;
    table.file_path = directory_.path("worker") + "/0000" + std::to_string(number) + ".sst";
    table.job_id = 1;
    table.reason = rocksdb::TableFileCreationReason::kCompaction;
    table.table_properties.num_entries = table.table_properties.num_filter_entries = 40'000;
    table.table_properties.filter_size = 50'000;
    if (number % 2 == 0) table.status = rocksdb::Status::IOError();
    listener_->OnTableFileCreationStarted(table);
    listener_->OnTableFileCreated(table);
  }
  EXPECT_EQ(GetMemoryBudgetUse("worker").used_bytes, used);
  for (std::uint64_t i = 2; i < 6; ++i) PutAndFlush(*db, 1'000, "value", i * 1'000);
  EXPECT_EQ(FindDifference(*db, [](const std::string&) { return Known::kAll; }), "");
  EXPECT_EQ(GetMemoryBudgetUse("worker").used_bytes, SumOf(TreesOf(*db)).filter_bytes);
}

// Tables are opened late by one thread.
class SlowFileSystem : public rocksdb::FileSystemWrapper {
 public:
  SlowFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "SlowFileSystem"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    if (std::this_thread::get_id() == slow_) {
      if (!was_reached_.exchange(true)) reached_.set_value();
      end_.wait();
    }
    return FileSystemWrapper::NewRandomAccessFile(path, options, file, debug);
  }

  // The calling thread waits from now on.
  void SlowDown() { slow_ = std::this_thread::get_id(); }
  std::future<void> Reached() { return reached_.get_future(); }
  void End() { ended_.set_value(); }

 private:
  std::atomic<std::thread::id> slow_{};
  std::atomic<bool> was_reached_ = false;
  std::promise<void> reached_;
  std::promise<void> ended_;
  const std::shared_future<void> end_ = ended_.get_future().share();
};

TEST_F(LiveTreeFaults, TheFirstFlushWaitsForNobodysFileReads) {
  constexpr auto kLongest = std::chrono::seconds(20);
  rocksdb::Options options = Options(AutoOptions());
  options.disable_auto_compactions = true;
  options.target_file_size_base = 4 << 10;
  {
    const Database db = Open(options, path_);
    PutAndFlush(*db, 10'000);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    ASSERT_GT(SumOf(TreesOf(*db)).tables, 20U);
  }
  const auto files = std::make_shared<SlowFileSystem>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  options.env = env.get();
  options.max_open_files = 12;
  const Database db = Open(options, path_);
  std::thread follower([&] {
    files->SlowDown();
    EXPECT_TRUE(FollowDatabase(db.get()).ok());
  });
  EXPECT_EQ(files->Reached().wait_for(kLongest), std::future_status::ready);
  auto flush = std::async(std::launch::async, [&] { PutAndFlush(*db, 1'000, "value", 10'000); });
  EXPECT_EQ(flush.wait_for(kLongest), std::future_status::ready);
  files->End();
  flush.wait();
  follower.join();
}

class WithoutMemory : public rocksdb::StackableDB {
 public:
  using StackableDB::StackableDB;
  void GetAllColumnFamilyMetaData(
      std::vector<rocksdb::ColumnFamilyMetaData>* /*families*/) override {
    throw std::bad_alloc();
  }
};

TEST_F(LiveTreeFaults, AListingThatFailsIsTakenAgain) {
  const Database db = Open(Options(AutoOptions()), path_);
  PutAndFlush(*db, 100);
  const std::shared_ptr<tree::Database> database = tree::Registry::Get().Follow(*db);
  WithoutMemory failing(std::shared_ptr<rocksdb::DB>(db.get(), [](rocksdb::DB*) {}));
  EXPECT_THROW(tree::ReadFamilies(failing, *database, {db->DefaultColumnFamily()}), std::bad_alloc);
  EXPECT_TRUE(database->tables.IsStale());
  tree::ListIfWanted(*db, *database);
  EXPECT_FALSE(database->tables.IsStale());
  tree::ListIfWanted(failing, *database);  // it is not wanted again
}

class UnreadableAtFirst : public rocksdb::StackableDB {
 public:
  using StackableDB::StackableDB;
  rocksdb::Status GetPropertiesOfTablesInRange(
      rocksdb::ColumnFamilyHandle* family, const rocksdb::Range* ranges, std::size_t count,
      rocksdb::TablePropertiesCollection* properties) override {
    ++reads_;
    if (reads_ == 1) return rocksdb::Status::IOError("at first");
    return StackableDB::GetPropertiesOfTablesInRange(family, ranges, count, properties);
  }
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* families) override {
    GetRootDB()->GetAllColumnFamilyMetaData(families);
  }
  int Reads() const { return reads_; }

 private:
  int reads_ = 0;
};

TEST_F(LiveTreeFaults, FilesThatCouldNotBeReadAreReadAgainAndOnce) {
  {
    const Database db = Open(Options(AutoOptions(14.0)), path_);
    PutAndFlush(*db, 10'000);
  }
  rocksdb::Options options = Options(AutoOptions(6.0));
  options.disable_auto_compactions = true;  // whose events would read the files, too
  const Database db = Open(options, path_);
  const std::shared_ptr<tree::Database> database = tree::Registry::Get().Follow(*db);
  UnreadableAtFirst reader(std::shared_ptr<rocksdb::DB>(db.get(), [](rocksdb::DB*) {}));
  const auto bytes = [&] {
    const auto lock = database->Lock();
    return database->Find("default")->All().filter_bytes;
  };
  tree::ListIfWanted(reader, *database);
  EXPECT_NE(bytes(), SumOf(TreesOf(*db)).filter_bytes);
  for (int i = 0; i < 3; ++i) tree::ListIfWanted(reader, *database);
  EXPECT_EQ(bytes(), SumOf(TreesOf(*db)).filter_bytes);
  EXPECT_EQ(reader.Reads(), 2);
}

// It fires no events of jobs, and its first table is sized before any event tells what it reads.
TEST_F(LiveTreeFaults, WhatCompactFilesHasWrittenIsKnownAtOnce) {
  rocksdb::Options options = Options(AutoOptions());
  options.disable_auto_compactions = true;
  const Database db = Open(options, path_);
  for (std::uint64_t i = 0; i < 4; ++i) PutAndFlush(*db, 5'000, "value", i * 3'000);
  ASSERT_EQ(CompactAllFiles(*db, db->DefaultColumnFamily()).ToString(), "OK");
  EXPECT_EQ(FindDifference(*db, [](const std::string&) { return Known::kAll; }), "");
  EXPECT_NEAR(SumOf(TreesOf(*db)).BitsPerKey(), 10.0, 0.2);
}

// Each table is rewritten at its own level, as a benchmark does that gives all policies one tree.
TEST_F(LiveTreeFaults, TablesOfCompactFilesGetTheBitsOfTheirRun) {
  rocksdb::Options options = Options(AutoOptions());
  options.disable_auto_compactions = true;
  options.write_buffer_size = options.target_file_size_base = 64 << 20;
  const Database db = Open(options, path_);
  const auto files_of = [&](int level) {
    rocksdb::ColumnFamilyMetaData tree;
    db->GetColumnFamilyMetaData(&tree);
    std::vector<std::string> files;
    for (const auto& file : tree.levels[static_cast<std::size_t>(level)].files) {
      files.push_back(file.relative_filename);
    }
    return files;
  };
  const auto compact = [&](int from, int to) {
    EXPECT_TRUE(db->CompactFiles({}, files_of(from), to).ok());
  };
  const std::vector<std::pair<int, std::uint64_t>> runs = {{6, 100'000}, {5, 10'000}, {0, 1'000}};
  for (const auto& [level, keys] : runs) {
    PutAndFlush(*db, keys, "value", keys * 10);
    if (level != 0) compact(0, level);
  }
  for (const auto& [level, keys] : runs) compact(level, level);
  std::vector<analysis::EqualRuns> planned;
  for (const auto& [level, keys] : runs) planned.push_back({tree::Real(keys)});
  const std::vector<double> plan = model::PlanRuns(10.0, planned, std::nullopt);
  Trees trees = TreesOf(*db);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_NEAR(trees.at("default").at(runs[i].first).BitsPerKey(), plan[i], 0.05 * plan[i]) << i;
  }
}

}  // namespace
}  // namespace exactbloom
