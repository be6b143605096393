// Switching ExactBloom on, to its other settings, and off again, by each way of docs/operations.md:
// which tables filter before they are rewritten, that all do afterwards, and that no key is lost.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../newer_rocksdb/newer_versions.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "later_env.h"
#include "listed_filters.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;

constexpr std::uint64_t kKeysOfRange = 500;
constexpr const char* kStock = "bloomfilter:10";

// A policy that the database is opened with, or set to.
struct Setting {
  std::string policy;               // empty: none
  std::set<FilterFamily> families;  // of the tables that it writes; few keys get a Bloom filter
  double bits_per_key;              // of those tables
  bool rewrites = true;             // all tables, before the next setting follows

  std::string Name() const { return policy.substr(0, policy.find(':')); }
};

// The first tables have these policies, in this order: two of RocksDB, and three of ExactBloom.
const std::vector<std::string> kWriters = {
    "", kStock, "ribbonfilter:10:-1", "classic_bloom:10", "standard_bloom:10", "exact_ribbon:10"};

const std::vector<Setting> kSettings = {
    {"", {}, 0.0, false},
    {kStock, {}, 0.0, false},
    {"classic_bloom:10", {FilterFamily::kExactBloom}, 10.0},
    {"exactbloom:14", {FilterFamily::kExactBloom, FilterFamily::kExactRibbon}, 14.0},
    {"exactbloom:10", {FilterFamily::kExactBloom, FilterFamily::kExactRibbon}, 10.0},
    {"", {}, 0.0, false},
    {kStock, {}, 0.0, false},
    {"exact_ribbon:10", {FilterFamily::kExactBloom, FilterFamily::kExactRibbon}, 10.0},
    {"rocksdb_bloom:10", {FilterFamily::kBloom}, 10.0},
    {kStock, {FilterFamily::kBloom}, 10.0},
};

// Whether tables of one policy filter in a database that has another one.
bool Filters(const std::string& writer, const std::string& reader) {
  if (writer.empty() || reader.empty()) return false;
  const bool is_rocksdb =
      writer == kStock || writer == "ribbonfilter:10:-1" || writer == "rocksdb_bloom:10";
  return reader != kStock || is_rocksdb;
}

enum class Way : std::uint8_t { kCompactRange, kPeriodicCompaction, kSetOptions };

struct Transition {
  const char* name;
  Way way;
  rocksdb::CompactionStyle style = rocksdb::kCompactionStyleLevel;
  bool partitioned = false;
};

// Two column families, in each of which the tables of kWriters have a range of keys each: one in
// level 3, one in level 1, the others in level 0; or six sorted runs of universal compaction.
class Transitions : public testing::TestWithParam<Transition> {
 protected:
  void SetUp() override {
    constexpr Version kChangesPolicies{9, 8};
    if (GetParam().way == Way::kSetOptions)
      EXACTBLOOM_SKIP_BEFORE(kChangesPolicies, "filter_policy in SetOptions");
    RegisterFilterPolicies();
    for (std::uint64_t i = 0; i < kWriters.size(); ++i) {
      Reopen(kWriters[i]);
      for (ColumnFamilyHandle* family : families_) {
        PutAndFlush(*db_, kKeysOfRange, "value", i * kKeysOfRange, family);
        if (GetParam().style == rocksdb::kCompactionStyleLevel && i < 2)
          MoveNewest(family, i == 0 ? 3 : 1);
      }
    }
  }
  ~Transitions() override { Close(); }

  void Reopen(const std::string& policy) {
    Close();
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    ASSERT_TRUE(
        rocksdb::FilterPolicy::CreateFromString({}, policy, &table_options.filter_policy).ok());
    if (GetParam().partitioned) PartitionFilters(512, &table_options);
    rocksdb::Options options = OptionsWith(table_options);
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    options.listeners = {NewTreeListener()};
    options.create_missing_column_families = true;
    options.disable_auto_compactions = false;
    options.level0_file_num_compaction_trigger = 100;
    options.compaction_style = GetParam().style;
    options.level_compaction_dynamic_level_bytes = false;  // the default of RocksDB 8.4 and later
    options.env = &env_;
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const char* name : {"default", "users"}) descriptors.emplace_back(name, options);
    const rocksdb::Status status =
        rocksdb::DB::Open(options, directory_.path("db"), descriptors, &families_, Receive(&db_));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  void Change(const std::string& policy) {
    if (GetParam().way != Way::kSetOptions) return Reopen(policy);
    const std::string text = "{filter_policy=" + (policy.empty() ? "nullptr" : policy) + ";}";
    for (ColumnFamilyHandle* family : families_) {
      const rocksdb::Status status = db_->SetOptions(family, {{"block_based_table_factory", text}});
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  }

  void RewriteAll() {
    if (GetParam().way == Way::kPeriodicCompaction) return AwaitPeriodicCompaction();
    for (ColumnFamilyHandle* family : families_) ASSERT_TRUE(ForceCompaction(*db_, family).ok());
  }

  // Asks for absent keys of one range, which only one table has. Each costs the read of a data
  // block unless a filter denies it, and a second one if it lies between two of the table's fewer
  // than twenty blocks.
  void ExpectCost(std::uint64_t range, bool filters) {
    constexpr std::uint64_t kAsked = kKeysOfRange - 1;
    for (ColumnFamilyHandle* family : families_) {
      const FilterCounts counts = AskAbsent(*db_, kAsked, family, range * kKeysOfRange);
      EXPECT_GE(counts.data_blocks, kAsked - counts.useful) << "range " << range;
      EXPECT_LT(counts.data_blocks, kAsked - counts.useful + 20) << "range " << range;
      if (filters) {
        // The first tables after exactbloom:14 have less than 10 bits per key, until all have 10.
        EXPECT_GT(counts.useful, kAsked * 95 / 100) << "range " << range;
        EXPECT_EQ(counts.useful + counts.positive, kAsked) << "range " << range;
      } else {
        EXPECT_EQ(counts.useful, 0U) << "range " << range;
      }
    }
  }

  // By Get, MultiGet, and Seek within a prefix.
  void ExpectNoKeyIsLost() {
    const std::uint64_t keys = kWriters.size() * kKeysOfRange;
    MultiGetAll(*db_, keys);
    rocksdb::ReadOptions in_prefix;
    in_prefix.prefix_same_as_start = true;
    for (ColumnFamilyHandle* family : families_) {
      ExpectPresent(*db_, keys, "value", 0, family);
      const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(in_prefix, family));
      for (std::uint64_t i = 0; i < keys; ++i) {
        iterator->Seek(KeyOf(2 * i));
        ASSERT_TRUE(iterator->Valid()) << KeyOf(2 * i);
        ASSERT_EQ(iterator->key().ToString(), KeyOf(2 * i));
      }
    }
  }

  void ExpectAllTablesOf(const Setting& setting) {
    double bytes = 0.0;
    double keys = 0.0;
    for (const ListedFilter& table : ListTableFilters(*db_)) {
      EXPECT_TRUE(table.status.ok()) << table.status.ToString();
      EXPECT_EQ(table.policy, setting.Name()) << table.path;
      EXPECT_EQ(setting.families.count(table.family), 1U)
          << table.path << " " << NameOf(table.family);
      bytes += static_cast<double>(table.bytes);
      keys += static_cast<double>(table.filter_keys);
    }
    EXPECT_NEAR(8.0 * bytes / keys, setting.bits_per_key, 2.5);
  }

  // The tables of each level below level 0, by column family, with their entries.
  std::map<std::pair<std::string, int>, std::uint64_t> LowerLevels() {
    std::map<std::pair<std::string, int>, std::uint64_t> entries;
    for (const ListedFilter& table : ListTableFilters(*db_)) {
      if (table.level > 0) entries[{table.column_family, table.level}] += table.entries;
    }
    return entries;
  }

  std::vector<std::string> writers_ = kWriters;  // of each range

 private:
  void Close() {
    for (ColumnFamilyHandle* family : families_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
    }
    families_.clear();
    db_.reset();
  }

  void MoveNewest(ColumnFamilyHandle* family, int level) {
    rocksdb::ColumnFamilyMetaData tree;
    db_->GetColumnFamilyMetaData(family, &tree);
    const std::string table = tree.levels[0].files.at(0).relative_filename;
    ASSERT_TRUE(db_->CompactFiles({}, family, {table}, level).ok());
  }

  // While the database is open, and each table stays in its level. Numbers of tables grow with
  // time.
  void AwaitPeriodicCompaction() {
    constexpr std::int64_t kDay = 86'400;
    constexpr auto kLongestWait = std::chrono::minutes(2);
    const char* const option = "periodic_compaction_seconds";
    std::uint64_t newest_before = 0;
    for (const ListedFilter& table : ListTableFilters(*db_))
      newest_before = std::max(newest_before, table.number);
    env_.SetForward(kDay);
    std::vector<std::string> before;
    for (ColumnFamilyHandle* family : families_) {
      before.push_back(std::to_string(db_->GetOptions(family).periodic_compaction_seconds));
      ASSERT_TRUE(db_->SetOptions(family, {{option, std::to_string(kDay / 2)}}).ok());
      PutAndFlush(*db_, 1, "value", 0, family);
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto some_are_old = [&] {
      const std::vector<ListedFilter> tables = ListTableFilters(*db_);
      return std::any_of(tables.begin(), tables.end(),
                         [&](const ListedFilter& table) { return table.number <= newest_before; });
    };
    while (some_are_old()) {
      ASSERT_LT(std::chrono::steady_clock::now(), begin + kLongestWait);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (std::size_t i = 0; i < families_.size(); ++i) {
      ASSERT_TRUE(db_->SetOptions(families_[i], {{option, before[i]}}).ok());
      EXPECT_EQ(std::to_string(db_->GetOptions(families_[i]).periodic_compaction_seconds),
                before[i]);
    }
  }

  TemporaryDirectory directory_;
  LaterEnv env_;
  Database db_;
  std::vector<ColumnFamilyHandle*> families_;
};

INSTANTIATE_TEST_SUITE_P(Ways, Transitions,
                         testing::Values(Transition{"CompactRange", Way::kCompactRange},
                                         Transition{"CompactRangeOfPartitionedFilters",
                                                    Way::kCompactRange,
                                                    rocksdb::kCompactionStyleLevel, true},
                                         Transition{"CompactRangeOfUniversal", Way::kCompactRange,
                                                    rocksdb::kCompactionStyleUniversal},
                                         Transition{"PeriodicCompaction", Way::kPeriodicCompaction},
                                         Transition{"SetOptions", Way::kSetOptions}),
                         [](const auto& test) { return test.param.name; });

TEST_P(Transitions, ThereAndBackLoseNoKey) {
  // SetOptions does not change the readers of open tables.
  const bool readers_change = GetParam().way != Way::kSetOptions;
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.policy);
    Change(setting.policy);
    for (std::uint64_t i = 0; readers_change && i < writers_.size(); ++i) {
      ExpectCost(i, Filters(writers_[i], setting.policy));
    }
    ExpectNoKeyIsLost();
    if (!setting.rewrites) continue;
    const auto levels = LowerLevels();
    RewriteAll();
    if (GetParam().way == Way::kPeriodicCompaction) {
      EXPECT_EQ(LowerLevels(), levels);
    }
    ExpectAllTablesOf(setting);
    writers_.assign(writers_.size(), setting.policy);
    for (std::uint64_t i = 0; i < writers_.size(); ++i) ExpectCost(i, true);
    ExpectNoKeyIsLost();
  }
}

PolicyPointer PolicyWithSeed(bool is_ribbon, std::uint64_t hash_seed) {
  if (is_ribbon) {
    ExactRibbonOptions options;
    options.hash_seed = hash_seed;
    return NewFilterPolicy(options);
  }
  ClassicBloomOptions options;
  options.hash_seed = hash_seed;
  return NewFilterPolicy(options);
}

// Each table keeps the seed that it was written with, and its kind of filter.
TEST(HashSeed, ChangingItLosesNoKeyAndAllTablesFilter) {
  constexpr std::uint64_t kKeysATable = 3000;
  const TemporaryDirectory directory;
  const std::vector<std::uint64_t> seeds = {0, 12345, ~std::uint64_t{0}, 1};
  std::uint64_t first = 0;
  for (const std::uint64_t seed : seeds) {
    for (const bool is_ribbon : {false, true}) {
      const Database db = Open(OptionsWith(PolicyWithSeed(is_ribbon, seed)), directory.path("db"));
      PutAndFlush(*db, kKeysATable, "value", first);
      first += kKeysATable;
      ExpectPresent(*db, first);
    }
  }
  for (const std::uint64_t seed : {std::uint64_t{777}, std::uint64_t{0}}) {
    const Database db = Open(OptionsWith(PolicyWithSeed(seed == 0, seed)), directory.path("db"));
    ExpectPresent(*db, first);
    // A key between two tables is in the range of neither.
    ExpectFiltering(AskAbsent(*db, first - 1), first - 2 * seeds.size());
    std::set<std::uint64_t> bloom_seeds;
    std::set<std::uint64_t> ribbon_seeds;
    for (const ListedFilter& table : ListTableFilters(*db)) {
      const std::optional<FilterBlocks> blocks = ReadFilterBlocks(*db, table.path);
      ASSERT_TRUE(blocks.has_value());
      (blocks->ribbon == 0 ? bloom_seeds : ribbon_seeds).insert(blocks->hash_seed);
    }
    EXPECT_EQ(bloom_seeds, std::set<std::uint64_t>(seeds.begin(), seeds.end()));
    EXPECT_EQ(ribbon_seeds, bloom_seeds);
  }
}

}  // namespace
}  // namespace exactbloom
