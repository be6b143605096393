// From RocksDB 9.8 on, DB::SetOptions changes the filter policy of an open database.
#include <gtest/gtest.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/convenience.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/utilities/options_util.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "listed_filters.h"
#include "newer_versions.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;

constexpr Version kChangesPolicies{9, 8};
constexpr std::uint64_t kKeysOfTable = 500;

struct Step {
  std::string policy;  // as SetOptions takes it
  std::string name;    // in the properties of tables
  FilterFamily family;
  std::uint64_t hash_seed;
  double bits_per_key;  // 0: not compared
};

const Step kOurs{"classic_bloom:10", "classic_bloom", FilterFamily::kExactBloom, 0, 10.0};
const Step kBuiltIn{"bloomfilter:10", "bloomfilter", FilterFamily::kBloom, 0, 10.0};

rocksdb::Status SetPolicy(rocksdb::DB& db, ColumnFamilyHandle* family, const std::string& policy) {
  return db.SetOptions(family, {{"block_based_table_factory", "{filter_policy=" + policy + ";}"}});
}

ListedFilter NewestTable(rocksdb::DB& db) {
  const std::vector<ListedFilter> tables = ListTableFilters(db);
  ListedFilter newest;
  for (const ListedFilter& table : tables) {
    const bool is_default = table.column_family == rocksdb::kDefaultColumnFamilyName;
    if (is_default && table.number > newest.number) newest = table;
  }
  return newest;
}

// The policy in the OPTIONS file that RocksDB wrote last.
std::string WrittenPolicy(const std::string& path) {
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  EXPECT_TRUE(rocksdb::LoadLatestOptions({}, path, &db_options, &families).ok());
  const rocksdb::FilterPolicy* policy = PolicyOf(families[0].options);
  return policy == nullptr ? "none" : policy->GetId();
}

class LiveSwitch : public testing::Test {
 protected:
  LiveSwitch() { RegisterFilterPolicies(); }

  void SetUp() override {
    EXACTBLOOM_SKIP_BEFORE(kChangesPolicies, "filter_policy in SetOptions");
    Reopen(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
  }

  void Reopen(const PolicyPointer& policy) {
    db_.reset();
    db_ = Open(OptionsWith(policy), path_);
  }

  // Expects the keys of all tables so far.
  void ExpectNothingLost() { ExpectPresent(*db_, written_); }

  // Writes one more table, and expects its filter to be that of the step.
  void ExpectNewTable(const Step& step) {
    const std::uint64_t first = written_;
    PutAndFlush(*db_, kKeysOfTable, "value", first);
    written_ += kKeysOfTable;
    const ListedFilter table = NewestTable(*db_);
    EXPECT_EQ(table.family, step.family) << table.reason;
    EXPECT_EQ(table.policy, step.name);
    EXPECT_EQ(table.hash_seed, step.hash_seed);
    if (step.bits_per_key != 0.0) {
      EXPECT_NEAR(8.0 * static_cast<double>(table.bytes) / kKeysOfTable, step.bits_per_key, 1.0);
    }
    ExpectAbsent(step.family != FilterFamily::kNone, first);
  }

  // Asks for absent keys within the range of the table that begins with this key. Takes the
  // counters of this thread, since others read at the same time.
  void ExpectAbsent(bool filtered, std::uint64_t first) {
    constexpr std::uint64_t kAbsent = kKeysOfTable - 1;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    AskAbsent(*db_, kAbsent, nullptr, first);
    const std::uint64_t stopped = rocksdb::get_perf_context()->bloom_sst_miss_count;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    if (filtered) {
      EXPECT_GT(stopped, kAbsent * 97 / 100);
    } else {
      EXPECT_EQ(stopped, 0U);
    }
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  Database db_;
  std::atomic<std::uint64_t> written_{0};  // keys of the default column family
};

// Threads that write, flush and compact one column family, and read both, while this object lives.
class Traffic {
 public:
  Traffic(rocksdb::DB& db, ColumnFamilyHandle* busy, const std::atomic<std::uint64_t>& written)
      : db_(db), busy_(busy) {
    threads_.emplace_back([this] { Write(); });
    threads_.emplace_back([this] { Read(busy_, busy_written_); });
    threads_.emplace_back([this, &written] { Read(db_.DefaultColumnFamily(), written); });
  }

  ~Traffic() { Stop(); }

  // Returns how many keys the busy family holds.
  std::uint64_t Stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return busy_written_;
  }

  // Returns after one more table was written and one more key was read.
  void AwaitMore() const {
    const std::uint64_t written = busy_written_;
    const std::uint64_t read = read_;
    while (busy_written_ == written || read_ == read) std::this_thread::yield();
  }

  std::uint64_t lost() const { return lost_; }

 private:
  void Write() {
    while (!stopped_) {
      PutAndFlush(db_, kKeysOfTable, "value", busy_written_, busy_);
      busy_written_ += kKeysOfTable;
    }
  }

  void Read(ColumnFamilyHandle* family, const std::atomic<std::uint64_t>& written) {
    std::string value;
    std::uint64_t key = 0;
    while (!stopped_) {
      constexpr std::uint64_t kStride = 7919;  // all keys have their turn, in no order
      key += kStride;
      if (written == 0) continue;
      if (!db_.Get({}, family, KeyOf(2 * (key % written)), &value).ok()) ++lost_;
      EXPECT_TRUE(db_.Get({}, family, KeyOf(2 * (key % written) + 1), &value).IsNotFound());
      ++read_;
    }
  }

  rocksdb::DB& db_;
  ColumnFamilyHandle* busy_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> busy_written_{0};
  std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::vector<std::thread> threads_;
};

TEST_F(LiveSwitch, UnderReadsAndWritesLosesNoKey) {
  const std::vector<Step> steps = {
      kOurs,
      {"{id=classic_bloom;bits_per_key=14;hash_seed=1}", kOurs.name, kOurs.family, 1, 14.0},
      {"{id=standard_bloom;fpr=0.001;hash_seed=1}", "standard_bloom", kOurs.family, 1, 0.0},
      kBuiltIn,
      {"classic_bloom:17.2", kOurs.name, kOurs.family, 0, 17.2},
      {"ribbonfilter:10:-1", "ribbonfilter", FilterFamily::kRibbon, 0, 0.0},
      {"nullptr", "", FilterFamily::kNone, 0, 0.0},
      kOurs,
  };
  // A column family that compacts by itself.
  rocksdb::Options busy_options = db_->GetOptions();
  busy_options.disable_auto_compactions = false;
  busy_options.level0_file_num_compaction_trigger = 2;
  ColumnFamilyHandle* busy = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(busy_options, "busy", &busy).ok());
  constexpr int kTables = 4;
  for (int table = 0; table < kTables; ++table) ExpectNewTable(kBuiltIn);
  const std::vector<ColumnFamilyHandle*> families = {db_->DefaultColumnFamily(), busy};
  {
    Traffic traffic(*db_, busy, written_);
    for (const Step& step : steps) {
      SCOPED_TRACE(step.policy);
      for (ColumnFamilyHandle* family : families) {
        const rocksdb::Status status = SetPolicy(*db_, family, step.policy);
        ASSERT_TRUE(status.ok()) << status.ToString();
      }
      ExpectNewTable(step);
      ExpectNothingLost();
      const rocksdb::Options now = db_->GetOptions();
      const rocksdb::FilterPolicy* policy = PolicyOf(now);
      EXPECT_EQ(WrittenPolicy(path_), policy == nullptr ? "none" : policy->GetId());
      if (step.policy != kOurs.policy && step.policy != kBuiltIn.policy) continue;
      // Compacted tables get the filters of the current policy without reopening.
      traffic.AwaitMore();
      for (ColumnFamilyHandle* family : families) EXPECT_TRUE(ForceCompaction(*db_, family).ok());
      traffic.AwaitMore();
      // This family gets no new tables meanwhile.
      for (const ListedFilter& table : ListTableFilters(*db_)) {
        if (table.column_family == rocksdb::kDefaultColumnFamilyName) {
          EXPECT_EQ(table.family, step.family) << table.reason;
        }
      }
      ExpectNothingLost();
      ExpectAbsent(true, 0);
    }
    const std::uint64_t written_by_traffic = traffic.Stop();
    EXPECT_EQ(traffic.lost(), 0U);
    EXPECT_GT(written_by_traffic, 0U);
    ExpectPresent(*db_, written_by_traffic, "value", 0, busy);
  }

  // A flush that began before the last switch may have written a table after the compaction.
  for (ColumnFamilyHandle* family : families) EXPECT_TRUE(ForceCompaction(*db_, family).ok());
  for (const ListedFilter& table : ListTableFilters(*db_)) {
    EXPECT_EQ(table.family, steps.back().family) << table.reason;
  }
  ExpectNothingLost();
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(busy).ok());
}

// A switch does not change the readers of open tables.
TEST_F(LiveSwitch, OpenTablesKeepTheReaderThatTheyWereOpenedWith) {
  ASSERT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), kOurs.policy).ok());
  ExpectNewTable(kOurs);
  for (const bool filtered : {true, false}) {
    if (!filtered) Reopen(nullptr);
    for (const std::string& policy : {kBuiltIn.policy, std::string("nullptr"), kOurs.policy}) {
      ASSERT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), policy).ok());
      ExpectAbsent(filtered, 0);
    }
  }
  Reopen(NewPolicy(BloomKind::kClassic));
  ExpectAbsent(true, 0);
}

TEST_F(LiveSwitch, AnUnknownNameChangesNothing) {
  ASSERT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), kOurs.policy).ok());
  const rocksdb::FilterPolicy* before = PolicyOf(db_->GetOptions());
  EXPECT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), "classic_blom:12").ok());
  EXPECT_EQ(PolicyOf(db_->GetOptions()), before);
  EXPECT_EQ(WrittenPolicy(path_), kOurs.policy);
  ExpectNewTable(kOurs);
}

TEST_F(LiveSwitch, OptionsThatAreLeftOutHaveTheirDefaults) {
  ColumnFamilyHandle* family = db_->DefaultColumnFamily();
  ASSERT_TRUE(SetPolicy(*db_, family, "{id=classic_bloom;bits_per_key=14;hash_seed=1}").ok());
  for (const char* text : {"{id=classic_bloom;bits_per_key=12}", "classic_bloom:12"}) {
    ASSERT_TRUE(SetPolicy(*db_, family, text).ok());
    EXPECT_EQ(PolicyOf(db_->GetOptions())->ToString({}), "classic_bloom:12");
    EXPECT_EQ(WrittenPolicy(path_), "classic_bloom:12");
  }
}

// With a listener the policy knows the tree at once; without one all tables get the same bits per
// key, and the log says so.
TEST_F(LiveSwitch, ToAPolicyThatFollowsTheTree) {
  const Step follows{"{id=exactbloom;memory_budget=1M;ribbon=false}", "exactbloom",
                     FilterFamily::kExactBloom, 0, 10.0};
  for (const bool listens : {true, false}) {
    db_.reset();
    rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
    if (listens) options.listeners.push_back(NewTreeListener());
    db_ = Open(options, path_);
    ASSERT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), follows.policy).ok());
    ExpectNewTable(follows);
    const std::string flat = "the tree is not known, so all tables get 10 bits per key";
    EXPECT_EQ(ReadLog(path_).find(flat) == std::string::npos, listens);
    ExpectNothingLost();
  }
}

// FollowDatabase uses the policy that a family had when it asked, though SetOptions frees it.
TEST_F(LiveSwitch, WhileTheDatabaseIsFollowed) {
  db_.reset();
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.listeners.push_back(NewTreeListener());
  db_ = Open(options, path_);
  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> followed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stopped) {
        EXPECT_TRUE(FollowDatabase(db_.get()).ok());
        ++followed;
      }
    });
  }
  constexpr int kSwitches = 200;
  for (int i = 0; i < kSwitches || followed < kSwitches; ++i) {
    const std::string policy =
        "{id=exactbloom;memory_budget=" + std::to_string(i % 7 + 1) + "M;budget=followed}";
    EXPECT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), policy).ok());
  }
  stopped = true;
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t bound = GetMemoryBudgetUse("followed").bound_bytes;
  EXPECT_TRUE(bound >= 1 << 20 && bound <= 7 << 20 && bound % (1 << 20) == 0) << bound;
}

// The size rules from the next table on, since SetOptions does not ask whether it is valid.
TEST_F(LiveSwitch, ToAnotherMemoryBudget) {
  db_.reset();
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.listeners.push_back(NewTreeListener());
  db_ = Open(options, path_);
  for (const char* size : {"1M", "2M"}) {
    const std::string policy =
        std::string("{id=exactbloom;ribbon=false;memory_budget=") + size + ";budget=live}";
    ASSERT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), policy).ok());
    ExpectNewTable({policy, "exactbloom", FilterFamily::kExactBloom, 0, 10.0});
    EXPECT_EQ(GetMemoryBudgetUse("live").bound_bytes, static_cast<std::uint64_t>(size[0] - '0')
                                                          << 20);
    EXPECT_NE(ReadLog(path_).find("memory budget 'live': the bound is " +
                                  std::to_string(GetMemoryBudgetUse("live").bound_bytes)),
              std::string::npos);
  }
  ExpectNothingLost();
}

// Waits in a compaction until it may go on.
class WaitingFilter : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "WaitingFilter"; }
  bool Filter(int /*level*/, const rocksdb::Slice& /*key*/, const rocksdb::Slice& /*value*/,
              std::string* /*changed*/, bool* /*changes*/) const override {
    if (++seen_ != kSeen) return false;
    waits = true;
    while (!goes_on) std::this_thread::yield();
    return false;
  }

  mutable std::atomic<bool> waits{false};
  std::atomic<bool> goes_on{false};

 private:
  static constexpr int kSeen = 3'000;
  mutable std::atomic<int> seen_{0};
};

// A compaction finishes with the policy that it began with, and its tables count in the budget of
// the policy that its column family has since.
TEST_F(LiveSwitch, ToAnotherMemoryBudgetWhileACompactionRuns) {
  const std::string switched = "{id=exactbloom;memory_budget=30K;budget=switched}";
  for (const std::string before :
       {"classic_bloom:10", "{id=exactbloom;memory_budget=10M;budget=before}"}) {
    SCOPED_TRACE(before);
    db_.reset();
    const TemporaryDirectory directory;
    WaitingFilter filter;
    rocksdb::Options options = OptionsWith(nullptr);
    ASSERT_TRUE(SetFilterPolicy(&options, before).ok());
    options.listeners = {NewTreeListener()};
    options.disable_auto_compactions = true;
    options.target_file_size_base = 64 << 10;
    options.compression = rocksdb::kNoCompression;
    rocksdb::Options waiting = options;
    waiting.compaction_filter = &filter;
    db_ = Open(options, directory.path("db"));
    ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily(waiting, "family", &family).ok());
    constexpr std::uint64_t kMany = 10'000;
    PutAndFlush(*db_, kMany, "value", 0, family);
    PutAndFlush(*db_, kMany, "value", kMany / 2, family);
    std::thread compaction(
        [&, family] { EXPECT_TRUE(db_->CompactRange({}, family, nullptr, nullptr).ok()); });
    while (!filter.waits) std::this_thread::yield();
    for (ColumnFamilyHandle* each : {db_->DefaultColumnFamily(), family}) {
      EXPECT_TRUE(SetPolicy(*db_, each, switched).ok());
    }
    EXPECT_TRUE(FollowDatabase(db_.get(), {family}).ok());
    filter.goes_on = true;
    compaction.join();
    EXPECT_GT(ListTableFilters(*db_).size(), 2U);
    for (std::uint64_t i = 0; i < 10; ++i) PutAndFlush(*db_, 2'000, "value", 1'000 * i);
    PutAndFlush(*db_, 100, "value", 2 * kMany, family);
    std::uint64_t bytes = 0;
    for (const ListedFilter& table : ListTableFilters(*db_)) bytes += table.bytes;
    const MemoryBudgetUse use = GetMemoryBudgetUse("switched");
    EXPECT_LE(bytes, use.bound_bytes);
    EXPECT_NEAR(static_cast<double>(use.used_bytes), static_cast<double>(bytes), 0.02 * 30'720);
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
    db_.reset();
  }
}

// SetOptions, unlike DB::Open, does not ask whether the options are valid.
TEST_F(LiveSwitch, ABadValueMeansTheDefaultsAndTheLogSaysSo) {
  for (const char* text : {"classic_bloom:-3", "{id=classic_bloom;level_bits=14:9}"}) {
    const Step refused{text, "classic_bloom", FilterFamily::kExactBloom, 0, 10.0};
    ASSERT_TRUE(SetPolicy(*db_, db_->DefaultColumnFamily(), refused.policy).ok());
    ExpectNewTable(refused);
    const rocksdb::Options now = db_->GetOptions();
    const rocksdb::Status status = now.table_factory->ValidateOptions(now, now);
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(ReadLog(path_).find("filters of classic_bloom:10, because of " + status.ToString()),
              std::string::npos);
  }
}

// Other threads use the policy, which RocksDB would change in place.
TEST(LiveSwitchBeforeRocksDB98, IsRefusedAndChangesNothing) {
  if (kChangesPolicies.IsHere()) GTEST_SKIP() << "This RocksDB changes policies.";
  RegisterFilterPolicies();
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
  Database db = Open(options, directory.path("db"));
  for (const char* text :
       {"classic_bloom:12", "exactbloom:12", "{id=exactbloom:10;bits_per_key=12}",
        "{bits_per_key=11}", "{bits_per_key=-3}", "{id=exactbloom;memory_budget=1M}"}) {
    const rocksdb::Status status = SetPolicy(*db, db->DefaultColumnFamily(), text);
    EXPECT_TRUE(status.IsInvalidArgument()) << text << ": " << status.ToString();
    EXPECT_EQ(PolicyOf(db->GetOptions())->ToString({}), "exactbloom:10");
  }
  EXPECT_TRUE(db->SetOptions({{"block_based_table_factory", "{block_size=8192;}"}}).ok());
  db.reset();
  db = Open(options, directory.path("db"));
}

}  // namespace
}  // namespace exactbloom
