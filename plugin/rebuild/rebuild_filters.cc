#include "exactbloom/rebuild_filters.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../tree/current_table.h"
#include "exactbloom/table_filters.h"
#include "level_compaction.h"
#include "wanted_filter.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

struct Family {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  rocksdb::Options options;
  WantedFilter wanted;
};

struct LackingTable {
  const Family* family = nullptr;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  int level = 0;
  std::uint64_t keys = 0;  // of its filter
};

// Keeps work to a rate, by the clock of `env`.
class Pacer {
 public:
  // `bytes_per_second` 0: no limit.
  Pacer(rocksdb::Env& env, std::uint64_t bytes_per_second)
      : env_(env), bytes_per_second_(bytes_per_second), start_(env.NowMicros()) {}

  // Sleeps until `bytes` since the start are within the rate, or `cancelled` returns true.
  void WaitFor(std::uint64_t bytes, const std::function<bool()>& cancelled) const {
    if (bytes_per_second_ == 0) return;
    constexpr double kMicrosPerSecond = 1e6;
    constexpr std::uint64_t kNapMicros = 50000;  // between checks for cancellation
    // The division comes last, so that a whole number of microseconds is exact.
    const double micros =
        static_cast<double>(bytes) * kMicrosPerSecond / static_cast<double>(bytes_per_second_);
    const auto due = start_ + static_cast<std::uint64_t>(micros);
    for (std::uint64_t now = env_.NowMicros(); now < due && !cancelled(); now = env_.NowMicros()) {
      env_.SleepForMicroseconds(static_cast<int>(std::min(due - now, kNapMicros)));
    }
  }

 private:
  rocksdb::Env& env_;
  std::uint64_t bytes_per_second_;
  std::uint64_t start_;
};

// Adds the paths of the input, since RocksDB's message does not always name a file.
Status WithInput(const Status& corruption, const CompactionInput& input) {
  std::string paths;
  for (const std::string& path : input.paths) paths += (paths.empty() ? "" : ", ") + path;
  const char* message = corruption.getState();
  return Status::Corruption(paths, message != nullptr ? message : "");
}

enum class Outcome { kRewritten, kGone, kBusy, kTooLarge, kBeyondBounds, kDamaged };

class Rebuild {
 public:
  Rebuild(rocksdb::DB& db, const RebuildOptions& options, RebuildResult* result)
      : db_(db),
        options_(options),
        result_(*result),
        pacer_(*db.GetEnv(), options.bytes_per_second) {}

  Status Run();

 private:
  Status Prepare();
  void Inspect(const Family& family);
  void InspectTable(const Family& family, const rocksdb::ColumnFamilyMetaData& metadata, int level,
                    const rocksdb::SstFileMetaData& table);
  bool IsInScope(const WantedFilter& wanted, const TableFilter& filter, bool bottommost) const;

  // Tries each lacking table once. Busy ones remain in the list.
  Status Pass(bool* progress);
  Status Rewrite(const LackingTable& table, Outcome* outcome);
  Status Compact(const LackingTable& table, const CompactionInput& input, Outcome* outcome);
  void Record(const LackingTable& table, Outcome outcome);

  bool IsCancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  std::uint64_t TakenBytes() const { return result_.rewritten_bytes + result_.along_bytes; }
  void Report() const {
    if (options_.progress) options_.progress(result_);
  }

  rocksdb::DB& db_;
  const RebuildOptions& options_;
  RebuildResult& result_;
  Pacer pacer_;
  std::deque<Family> families_;  // has stable addresses
  std::vector<LackingTable> lacking_;
  std::unordered_set<std::uint64_t> not_done_;  // the numbers of lacking tables
  std::vector<LackingTable> left_;              // remain, and are not tried again
};

Status Rebuild::Prepare() {
  std::vector<rocksdb::ColumnFamilyHandle*> handles = options_.column_families;
  if (handles.empty()) handles.push_back(db_.DefaultColumnFamily());
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    Family& family = families_.emplace_back();
    family.handle = handle;
    family.options = db_.GetOptions(handle);
    family.options.statistics.reset();  // does not count the rebuild's reads
    Status status = WantedFilter::Create(db_, *handle, &family.wanted);
    if (!status.ok()) return status;
  }
  return Status::OK();
}

void Rebuild::Inspect(const Family& family) {
  rocksdb::ColumnFamilyMetaData metadata;
  db_.GetColumnFamilyMetaData(family.handle, &metadata);
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& table : level.files) {
      if (IsCancelled()) return;
      InspectTable(family, metadata, level.level, table);
      Report();
    }
  }
}

void Rebuild::InspectTable(const Family& family, const rocksdb::ColumnFamilyMetaData& metadata,
                           int level, const rocksdb::SstFileMetaData& table) {
  TableFilter filter;
  const std::string path = table.directory + "/" + table.relative_filename;
  const Status status = ReadTableFilter(*db_.GetFileSystem(), path, &filter);
  filter.level = level;
  const std::optional<CompactionInput> input =
      CompactionInputOf(metadata, table.file_number, *family.options.comparator);
  if (!status.ok()) {
    // It is damaged, unless a compaction has deleted it meanwhile.
    rocksdb::ColumnFamilyMetaData now;
    db_.GetColumnFamilyMetaData(family.handle, &now);
    if (!CompactionInputOf(now, table.file_number, *family.options.comparator)) return;
    if (options_.dry_run && status.IsPathNotFound()) {
      result_.vanished_files.push_back(path);
      return;
    }
    result_.damaged_files.push_back(path);
  }
  result_.tables += 1;
  result_.bytes += table.size;
  if (!status.ok()) return;
  if (!IsInScope(family.wanted, filter, input->bottommost)) return;
  result_.lacking_tables += 1;
  result_.lacking_bytes += table.size;
  const std::uint64_t keys = filter.filter_keys != 0 ? filter.filter_keys : filter.entries;
  lacking_.push_back({&family, table.file_number, table.size, filter.level, keys});
  not_done_.insert(table.file_number);
}

bool Rebuild::IsInScope(const WantedFilter& wanted, const TableFilter& filter,
                        bool bottommost) const {
  if (options_.scope == RebuildScope::kAll) return filter.entries > filter.range_deletes;
  if (wanted.IsLackedBy(filter, bottommost)) return true;
  return options_.scope == RebuildScope::kOtherSize && wanted.HasOtherSize(filter, bottommost);
}

Status Rebuild::Run() {
  Status status = Prepare();
  if (!status.ok()) return status;
  for (const Family& family : families_) Inspect(family);
  // A policy that follows the tree gives small runs what the large ones leave.
  std::stable_sort(
      lacking_.begin(), lacking_.end(),
      [](const LackingTable& one, const LackingTable& other) { return one.level > other.level; });
  // Tables that another compaction holds are tried again, as long as there is other work.
  bool progress = !options_.dry_run;
  while (status.ok() && progress && !lacking_.empty()) status = Pass(&progress);
  if (!options_.dry_run && !IsCancelled() && status.ok()) result_.busy_tables = lacking_.size();
  left_.insert(left_.end(), lacking_.begin(), lacking_.end());
  result_.remaining_tables = left_.size();
  for (const LackingTable& table : left_) result_.remaining_bytes += table.bytes;
  Report();
  return status;
}

Status Rebuild::Pass(bool* progress) {
  *progress = false;
  std::vector<LackingTable> tables = std::move(lacking_);
  lacking_.clear();
  Status status;
  for (const LackingTable& table : tables) {
    Outcome outcome = Outcome::kBusy;
    if (status.ok()) pacer_.WaitFor(TakenBytes(), [this] { return IsCancelled(); });
    if (status.ok() && !IsCancelled()) status = Rewrite(table, &outcome);
    Record(table, outcome);
    *progress = *progress || outcome == Outcome::kRewritten;
  }
  return status;
}

void Rebuild::Record(const LackingTable& table, Outcome outcome) {
  switch (outcome) {
    case Outcome::kRewritten:
      return Report();
    case Outcome::kGone:
      if (not_done_.erase(table.number) == 0) return;  // compacted with another table
      result_.gone_tables += 1;
      result_.gone_bytes += table.bytes;
      return;
    case Outcome::kBusy:
      lacking_.push_back(table);
      return;
    case Outcome::kTooLarge:
      result_.too_large_tables += 1;
      [[fallthrough]];
    case Outcome::kBeyondBounds:
    case Outcome::kDamaged:
      left_.push_back(table);
  }
}

Status Rebuild::Rewrite(const LackingTable& table, Outcome* outcome) {
  rocksdb::ColumnFamilyMetaData metadata;
  db_.GetColumnFamilyMetaData(table.family->handle, &metadata);
  const std::optional<CompactionInput> input =
      CompactionInputOf(metadata, table.number, *table.family->options.comparator);
  *outcome = Outcome::kGone;
  if (!input) return Status::OK();
  *outcome = Outcome::kBusy;
  if (input->being_compacted) return Status::OK();
  *outcome = Outcome::kTooLarge;
  if (options_.max_bytes != 0 && input->bytes > options_.max_bytes) return Status::OK();
  *outcome = Outcome::kBeyondBounds;
  if (options_.max_bytes != 0 && TakenBytes() + input->bytes > options_.max_bytes) {
    return Status::OK();
  }
  if (options_.max_tables != 0 &&
      result_.rewritten_tables + result_.along_tables + input->paths.size() > options_.max_tables) {
    return Status::OK();
  }
  *outcome = Outcome::kDamaged;
  if (options_.verify_checksums) {
    const std::string damaged = FindDamage(*input, table.family->options);
    if (!damaged.empty()) {
      result_.damaged_files.push_back(damaged);
      return Status::OK();
    }
  }
  return Compact(table, *input, outcome);
}

Status Rebuild::Compact(const LackingTable& table, const CompactionInput& input, Outcome* outcome) {
  const Family& family = *table.family;
  tree::RefreshShape(db_);
  // These scopes bring all tables to the plan of the tree.
  std::optional<tree::PlannedTables> planned;
  if (options_.scope != RebuildScope::kOtherFilter)
    planned.emplace(input.paths.size() == 1 ? table.keys : 0);
  std::vector<std::string> outputs;
  Status status = CompactWithinLevel(db_, *family.handle, family.options, input, &outputs);
  *outcome = Outcome::kBusy;
  if (status.IsAborted() || status.IsInvalidArgument()) return Status::OK();
  if (status.IsCorruption()) return WithInput(status, input);
  if (!status.ok()) return status;
  *outcome = Outcome::kRewritten;
  for (const auto& [number, bytes] : input.tables) {
    const bool is_lacking = not_done_.erase(number) != 0;
    (is_lacking ? result_.rewritten_tables : result_.along_tables) += 1;
    (is_lacking ? result_.rewritten_bytes : result_.along_bytes) += bytes;
  }
  for (const std::string& path : outputs) {
    TableFilter filter;
    // A blob file, or a table that has been compacted away.
    if (!ReadTableFilter(*db_.GetFileSystem(), path, &filter).ok()) continue;
    filter.level = input.level;
    result_.written_bytes += filter.file_bytes;
    if (family.wanted.IsLackedBy(filter, input.bottommost)) result_.still_lacking_tables += 1;
  }
  return Status::OK();
}

}  // namespace

Status RebuildFilters(rocksdb::DB& db, const RebuildOptions& options, RebuildResult* result) {
  *result = RebuildResult();
  return Rebuild(db, options, result).Run();
}

}  // namespace exactbloom
