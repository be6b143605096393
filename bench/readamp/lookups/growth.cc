#include "growth.h"

#include <fmt/format.h>
#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <string>
#include <unordered_map>

#include "readamp/tree/counting_file_system.h"
#include "tool/support/few_tables.h"

namespace exactbloom::readamp {
namespace {

// Whether RocksDB asks the filter of a table that ends before this key, and reads nothing, whatever
// the filter answers.
bool MayLieBehindATable(rocksdb::DB& db, const std::string& key) {
  rocksdb::ColumnFamilyMetaData tree;
  db.GetColumnFamilyMetaData(&tree);
  const auto& tables = tree.levels.front().files;
  return tree.file_count == tables.size() && tables.size() <= support::kFewTables &&
         std::any_of(tables.begin(), tables.end(),
                     [&](const rocksdb::SstFileMetaData& table) { return table.largestkey < key; });
}

}  // namespace

// Remembers the filters of all tables that a database made, including those that compactions have
// deleted since: the tree may change while it is being listed.
class FilterSizes : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const rocksdb::TableProperties& properties = info.table_properties;
    tables_[info.file_path] = {properties.num_entries, properties.filter_size};
  }

  // The sorted runs of the tree as it is. The lookups of `asked` are absent keys in order.
  std::vector<GrowthRun> Runs(rocksdb::DB& db, const std::vector<std::string>& asked) {
    rocksdb::ColumnFamilyMetaData tree;
    db.GetColumnFamilyMetaData(&tree);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<GrowthRun> runs;
    for (const rocksdb::LevelMetaData& level : tree.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        if (runs.empty() || level.level == 0 || runs.back().level != level.level) {
          runs.push_back({level.level});
        }
        GrowthRun& run = runs.back();
        const TableFilter& table = tables_[file.db_path + file.name];
        ++run.tables;
        run.unfiltered_tables += table.bytes == 0 ? 1U : 0U;
        run.keys += table.keys;
        run.filter_bytes += table.bytes;
        const auto first = std::lower_bound(asked.begin(), asked.end(), file.smallestkey);
        const auto last = std::upper_bound(first, asked.end(), file.largestkey);
        run.asked += static_cast<double>(last - first) / static_cast<double>(asked.size());
      }
    }
    return runs;
  }

 private:
  struct TableFilter {
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, TableFilter> tables_;  // by their paths
};

std::uint64_t GrowthPoint::Sum(std::uint64_t GrowthRun::*field) const {
  return std::accumulate(
      runs.begin(), runs.end(), std::uint64_t{0},
      [field](std::uint64_t sum, const GrowthRun& run) { return sum + run.*field; });
}

double GrowthPoint::BitsPerKey() const {
  const std::uint64_t keys = Sum(&GrowthRun::keys);
  if (keys == 0) return 0.0;
  return 8.0 * static_cast<double>(Sum(&GrowthRun::filter_bytes)) / static_cast<double>(keys);
}

double GrowthPoint::RunsAsked() const {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const GrowthRun& run) { return sum + run.asked; });
}

double GrowthPoint::WastedReadsPerLookup() const {
  return lookups == 0 ? 0.0 : static_cast<double>(wasted_reads) / static_cast<double>(lookups);
}

GrowthMeasurement::GrowthMeasurement(const Workload& workload, const KeySet& keys,
                                     const rocksdb::FilterPolicy* policy,
                                     const ReadampSettings& settings, Progress& progress)
    : workload_(workload), keys_(keys), policy_(policy), settings_(settings), progress_(progress) {}

GrowthMeasurement::~GrowthMeasurement() = default;

void GrowthMeasurement::Prepare(rocksdb::Options* options) {
  env_ = NewCountingEnv();
  sizes_ = std::make_shared<FilterSizes>();
  options->env = env_.get();
  options->listeners.push_back(sizes_);
  start_ = std::chrono::steady_clock::now();
}

void GrowthMeasurement::AfterPut(rocksdb::DB& db, std::size_t written) {
  progress_.Add(1);
  written_ = written;
  const std::size_t due = written * settings_.growth_points / keys_.stored;
  if (due > points_.size()) points_.push_back(Measure(db));
}

void GrowthMeasurement::AtRest(rocksdb::DB& db) {
  points_.push_back(Measure(db));
  const GrowthPoint& point = points_.back();
  if (point.Sum(&GrowthRun::unfiltered_tables) == 0 &&
      point.wasted_reads != point.false_positives) {
    throw WrongAnswer(
        fmt::format("at rest RocksDB counts {} false positives and the file system "
                    "{} wasted reads",
                    point.false_positives, point.wasted_reads));
  }
}

GrowthPoint GrowthMeasurement::Measure(rocksdb::DB& db) {
  GrowthPoint point;
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  point.seconds = std::chrono::duration<double>(elapsed).count();
  point.keys_written = written_;
  point.lookups = workload_.order.size() / (settings_.growth_points + 1);
  std::vector<std::string> asked;
  asked.reserve(point.lookups);
  for (std::size_t i = 0; i < point.lookups; ++i) {
    asked.push_back(keys_.Key(workload_.order[next_++]));
  }
  std::vector<std::string> sorted = asked;
  std::sort(sorted.begin(), sorted.end());

  rocksdb::ReadOptions read_options;
  read_options.fill_cache = false;  // so that every search of a table is a read
  rocksdb::PinnableSlice value;
  CountedThread counted;
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  std::uint64_t all_passed = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (i == asked.size() / 2) point.runs = sizes_->Runs(db, sorted);
    support::CheckForInterrupts();
    counted.Reads().tables.clear();
    const auto status = db.Get(read_options, db.DefaultColumnFamily(), asked[i], &value);
    if (!status.IsNotFound()) {
      throw WrongAnswer(
          fmt::format("the key '{}', which was never stored: {}", asked[i], status.ToString()));
    }
    const std::uint64_t reads = counted.Reads().tables.size();
    const std::uint64_t passed = rocksdb::get_perf_context()->bloom_sst_hit_count - all_passed;
    all_passed += passed;
    const bool none_needed = passed == reads + 1 && MayLieBehindATable(db, asked[i]);
    point.wasted_reads += reads;
    point.false_positives += none_needed ? reads : passed;
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  point.optimum = LeastWastedReads(policy_, point.runs);
  if (point.wasted_reads < point.false_positives) {
    throw WrongAnswer(fmt::format("RocksDB counts {} false positives and the file system {} reads",
                                  point.false_positives, point.wasted_reads));
  }
  return point;
}

}  // namespace exactbloom::readamp
