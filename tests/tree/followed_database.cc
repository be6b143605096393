#include "followed_database.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "exactbloom/tree_listener.h"
#include "sst/table_filters.h"

namespace exactbloom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(2);
constexpr auto kLongestWait = std::chrono::seconds(20);

// Nothing if a compaction deleted tables meanwhile.
std::optional<Trees> ReadTrees(rocksdb::DB& db) {
  Trees trees;
  std::vector<rocksdb::ColumnFamilyMetaData> families;
  db.GetAllColumnFamilyMetaData(&families);
  for (const auto& family : families) {
    // One that was dropped and is still held comes before its namesake.
    auto& tree = trees[family.name];
    tree.clear();
    for (const auto& level : family.levels) {
      for (const auto& file : level.files) {
        TableFilter filter;
        const std::string path = file.directory + "/" + file.relative_filename;
        if (!ReadTableFilter(*db.GetFileSystem(), path, &filter).ok()) return std::nullopt;
        TableSum& sum = tree[level.level];
        ++sum.tables;
        sum.keys += filter.filter_keys != 0 ? filter.filter_keys : filter.PointEntries();
        sum.filter_bytes += filter.bytes;
      }
    }
  }
  return trees;
}

}  // namespace

Trees TreesOf(rocksdb::DB& db) {
  std::optional<Trees> trees;
  do {
    trees = ReadTrees(db);
  } while (!trees);
  return *trees;
}

TableSum SumOf(const std::map<int, TableSum>& tree) {
  TableSum total;
  for (const auto& [level, sum] : tree) {
    total.tables += sum.tables;
    total.keys += sum.keys;
    total.filter_bytes += sum.filter_bytes;
  }
  return total;
}

TableSum SumOf(const Trees& trees) {
  std::map<int, TableSum> sums;
  for (const auto& [name, tree] : trees) sums[static_cast<int>(sums.size())] = SumOf(tree);
  return SumOf(sums);
}

ExactBloomOptions AutoOptions(double bits_per_key) {
  ExactBloomOptions options;
  options.bits_per_key = bits_per_key;
  options.ribbon = false;
  return options;
}

ExactBloomOptions BudgetOptions(std::uint64_t bytes, double bits_per_key) {
  ExactBloomOptions options = AutoOptions(bits_per_key);
  options.memory_budget = bytes;
  return options;
}

PolicyPointer PolicyOf(const ExactBloomOptions& options) { return NewFilterPolicy(options); }

rocksdb::Options FollowingOptions(const PolicyPointer& policy, const ListenerPointer& listener) {
  rocksdb::Options options = OptionsWith(policy);
  options.listeners = {listener};
  options.disable_auto_compactions = false;
  options.write_buffer_size = 128 << 10;
  options.target_file_size_base = 64 << 10;
  options.max_bytes_for_level_base = 256 << 10;
  options.level0_file_num_compaction_trigger = 3;
  options.compression = rocksdb::kNoCompression;
  return options;
}

void Load(rocksdb::DB& db, std::uint64_t count, std::uint64_t first,
          rocksdb::ColumnFamilyHandle* family) {
  if (family == nullptr) family = db.DefaultColumnFamily();
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(first + count));
  for (const std::uint64_t number : numbers) {
    ASSERT_TRUE(db.Put({}, family, KeyOf(2 * number), "value").ok());
  }
  ASSERT_TRUE(db.Flush({}, family).ok());
  AwaitQuiet(db);
}

void NoteTableCreation(rocksdb::DB& db, int job) {
  rocksdb::TableFileCreationBriefInfo info;
  info.db_name = db.GetName();
  info.cf_name = rocksdb::kDefaultColumnFamilyName;
  info.file_path = db.GetName() + "/00" + std::to_string(job) + ".sst";
  info.job_id = job;
  info.reason = rocksdb::TableFileCreationReason::kFlush;
  for (const auto& listener : db.GetDBOptions().listeners) {
    listener->OnTableFileCreationStarted(info);
  }
}

std::unique_ptr<rocksdb::FilterBitsBuilder> BeginTable(rocksdb::DB& db, int job) {
  NoteTableCreation(db, job);
  const auto* tables = db.GetOptions().table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  rocksdb::FilterBuildingContext context(*tables);
  context.column_family_name = rocksdb::kDefaultColumnFamilyName;
  context.reason = rocksdb::TableFileCreationReason::kFlush;
  context.level_at_creation = 0;
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(
      tables->filter_policy->GetBuilderWithContext(context));
}

rocksdb::Status CompactAllFiles(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData tree;
  db.GetColumnFamilyMetaData(family, &tree);
  std::vector<std::string> files;
  for (const auto& level : tree.levels) {
    for (const auto& file : level.files) files.push_back(file.relative_filename);
  }
  if (files.empty()) return rocksdb::Status::OK();
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;
  options.output_file_size_limit = 64 << 10;
  return db.CompactFiles(options, family, files, tree.levels.back().level);
}

std::string ReadLog(const std::string& path) {
  std::ifstream log(path + "/LOG");
  return {std::istreambuf_iterator<char>(log), {}};
}

void AwaitQuiet(rocksdb::DB& db) {
  // With other styles, or without automatic compactions, some may be pending that no job will do.
  const rocksdb::Options options = db.GetOptions();
  const bool does_pending = options.compaction_style == rocksdb::kCompactionStyleLevel &&
                            !options.disable_auto_compactions;
  const auto is_quiet = [&db, does_pending] {
    for (const char* property : {"rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
                                 "rocksdb.compaction-pending", "rocksdb.num-running-compactions"}) {
      if (!does_pending && std::string(property) == "rocksdb.compaction-pending") continue;
      std::uint64_t value = 0;
      EXPECT_TRUE(db.GetAggregatedIntProperty(property, &value)) << property;
      if (value != 0) return false;
    }
    return true;
  };
  const Clock::time_point end = Clock::now() + kLongestWait;
  // What is pending may begin to run, and what runs may leave something pending, between two
  // questions: a job is asked for first while it is pending, and all is asked twice.
  const auto is_quiet_twice = [&] { return is_quiet() && is_quiet(); };
  bool quiet = is_quiet_twice();
  for (; !quiet && Clock::now() < end; quiet = is_quiet_twice()) {
    std::this_thread::sleep_for(kPause);
  }
  EXPECT_TRUE(quiet);
}

bool AreBytesOf(const TableSum& truth, Known known, std::uint64_t filter_bytes) {
  if (known == Known::kAll) return filter_bytes == truth.filter_bytes;
  // RocksDB counts the index of partitions, a key for some hundred keys, however few bits they
  // have.
  return filter_bytes >= truth.filter_bytes &&
         filter_bytes <= truth.filter_bytes * 11 / 10 + 64 * truth.tables + truth.keys / 12;
}

std::string FindDifference(rocksdb::DB& db, const KnownOf& known_of) {
  Trees known;
  for (const SortedRuns& runs : GetSortedRuns(db)) {
    TableSum& sum = known[runs.column_family][runs.level];
    sum.tables += runs.tables;
    sum.keys += runs.keys;
    sum.filter_bytes += runs.filter_bytes;
  }
  Trees trees = TreesOf(db);
  for (const auto& [name, levels] : known) trees[name];
  for (const auto& [name, levels] : trees) {
    const Known wanted = known_of(name);
    for (int level = 0; level < 64; ++level) {
      const auto found = levels.find(level);
      const TableSum truth = found == levels.end() ? TableSum() : found->second;
      const TableSum sum = known[name][level];
      if ((wanted < Known::kTables || sum.tables == truth.tables) &&
          (wanted < Known::kKeys || sum.keys == truth.keys) &&
          (wanted < Known::kPartitions || AreBytesOf(truth, wanted, sum.filter_bytes))) {
        continue;
      }
      return "family " + name + ", level " + std::to_string(level) + ": " +
             std::to_string(sum.tables) + " tables, " + std::to_string(sum.keys) + " keys, " +
             std::to_string(sum.filter_bytes) + " bytes instead of " +
             std::to_string(truth.tables) + ", " + std::to_string(truth.keys) + ", " +
             std::to_string(truth.filter_bytes);
    }
  }
  return "";
}

void ExpectKnownTrees(rocksdb::DB& db, Known known) {
  const Clock::time_point end = Clock::now() + kLongestWait;
  std::string difference;
  for (; Clock::now() < end; std::this_thread::sleep_for(kPause)) {
    AwaitQuiet(db);
    difference = FindDifference(db, [known](const std::string&) { return known; });
    if (difference.empty()) return;
    ASSERT_TRUE(db.Put({}, KeyOf(0), "value").ok());
    ASSERT_TRUE(db.Flush({}).ok());
  }
  ADD_FAILURE() << difference;
}

void FilterWatch::OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& /*info*/) {
  Refresh(*db);
}

void FilterWatch::OnCompactionCompleted(rocksdb::DB* db,
                                        const rocksdb::CompactionJobInfo& /*info*/) {
  Refresh(*db);
}

void FilterWatch::Refresh(rocksdb::DB& db) {
  constexpr std::uint64_t kBytesPerTable = 8;
  TableSum sum = SumOf(TreesOf(db));
  sum.filter_bytes -= std::min(sum.filter_bytes, kBytesPerTable * sum.tables);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sum.keys < least_keys_) return;
  most_bits_per_key_ = std::max(most_bits_per_key_, sum.BitsPerKey());
}

}  // namespace exactbloom
