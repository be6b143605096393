#include "growth.h"

#include <fmt/format.h>
#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/policy_options.h"
#include "readamp/tree/counting_file_system.h"
#include "src/analysis/run_division.h"
#include "support/few_tables.h"

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

double RateOf(BloomKind kind, bool ribbon, std::uint64_t keys, double bits_per_key) {
  const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
  if (ribbon) return analysis::LargeRibbonRate(bits_per_key);
  const int probes = OptimalProbes(kind, bits, keys);
  return probes == 0 ? 1.0 : FalsePositiveRate(kind, bits, keys, probes);
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

  // Adds the sorted runs of the tree as it is. The lookups of `asked` are absent keys in order.
  void AddRuns(rocksdb::DB& db, const std::vector<std::string>& asked, GrowthPoint* point) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& runs = point->sorted_runs;
    VisitTables(db, [&](int number, int level, const rocksdb::SstFileMetaData& file) {
      if (runs.size() == static_cast<std::size_t>(number)) runs.push_back({level});
      const TableFilter& table = tables_[file.db_path + file.name];
      const auto first = std::lower_bound(asked.begin(), asked.end(), file.smallestkey);
      const auto last = std::upper_bound(first, asked.end(), file.largestkey);
      const double share = static_cast<double>(last - first) / static_cast<double>(asked.size());
      GrowthRun& run = runs.back();
      ++run.tables;
      run.keys += table.keys;
      run.filter_bytes += table.bytes;
      run.asked += share;
      ++point->tables;
      point->unfiltered_tables += table.bytes == 0 ? 1U : 0U;
      point->keys_in_tables += table.keys;
      point->filter_bytes += table.bytes;
      point->runs_asked += share;
    });
  }

 private:
  struct TableFilter {
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, TableFilter> tables_;  // by their paths
};

double LeastWastedReads(const rocksdb::FilterPolicy* policy, const std::vector<GrowthRun>& runs) {
  const BloomFilterPolicy* ours = BloomFilterPolicy::Of(policy);
  const BloomKind kind = ours == nullptr ? BloomKind::kClassic : BloomKindOf(ours->Options());
  const bool ribbon = ours != nullptr && HasRibbon(ours->Options());
  std::vector<const GrowthRun*> asked;
  std::vector<analysis::EqualRuns> divided;
  double bits = 0.0;
  for (const GrowthRun& run : runs) {
    bits += 8.0 * static_cast<double>(run.filter_bytes);
    const auto keys = static_cast<double>(run.keys);
    if (keys == 0.0 || run.asked == 0.0) continue;
    // A run that a part of the lookups ask counts as so much of one that all ask, and that has the
    // keys of the whole key space at the run's density: the keys and the reads are the run's own.
    divided.push_back({keys / run.asked, run.asked, ribbon});
    asked.push_back(&run);
  }
  const std::vector<double> bits_per_key = analysis::DivideAmongRuns(divided, bits);
  double wasted = 0.0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    wasted += asked[i]->asked * RateOf(kind, ribbon, asked[i]->keys, bits_per_key[i]);
  }
  return wasted;
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
  if (written * settings_.growth_points / keys_.stored > points_.size()) Measure(db);
}

void GrowthMeasurement::AtRest(rocksdb::DB& db) {
  Measure(db);
  const GrowthPoint& point = points_.back();
  if (point.unfiltered_tables == 0 && point.wasted_reads != point.false_positives) {
    throw WrongAnswer(
        fmt::format("at rest RocksDB counts {} false positives and the file system {} wasted reads",
                    point.false_positives, point.wasted_reads));
  }
}

void GrowthMeasurement::Measure(rocksdb::DB& db) {
  GrowthPoint point;
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  point.seconds = std::chrono::duration<double>(elapsed).count();
  point.keys_written = written_;
  point.lookups = workload_.order.size() / (settings_.growth_points + 1);
  std::vector<std::string> asked;
  for (std::size_t i = points_.size() * point.lookups; asked.size() < point.lookups; ++i) {
    asked.push_back(keys_.Key(workload_.order[i]));
  }
  LookUp(db, asked, &point);
  if (point.wasted_reads < point.false_positives) {
    throw WrongAnswer(fmt::format("RocksDB counts {} false positives and the file system {} reads",
                                  point.false_positives, point.wasted_reads));
  }
  point.wasted_reads_per_lookup =
      static_cast<double>(point.wasted_reads) / static_cast<double>(point.lookups);
  point.present_optimum = LeastWastedReads(policy_, point.sorted_runs);
  if (point.keys_in_tables > 0) {
    point.bits_per_key =
        8.0 * static_cast<double>(point.filter_bytes) / static_cast<double>(point.keys_in_tables);
  }
  points_.push_back(std::move(point));
}

void GrowthMeasurement::LookUp(rocksdb::DB& db, const std::vector<std::string>& asked,
                               GrowthPoint* point) const {
  std::vector<std::string> sorted = asked;
  std::sort(sorted.begin(), sorted.end());
  rocksdb::ReadOptions read_options;
  read_options.fill_cache = false;  // so that every search of a table is a read
  rocksdb::PinnableSlice value;
  CountedThread counted;
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (i == asked.size() / 2) sizes_->AddRuns(db, sorted, point);
    counted.Reads().tables.clear();
    counts.Reset();
    const auto status = db.Get(read_options, db.DefaultColumnFamily(), asked[i], &value);
    if (!status.IsNotFound()) {
      throw WrongAnswer(
          fmt::format("the key '{}', which was never stored: {}", asked[i], status.ToString()));
    }
    const std::uint64_t reads = counted.Reads().tables.size();
    const std::uint64_t passed = counts.bloom_sst_hit_count;
    const bool none_needed = passed == reads + 1 && MayLieBehindATable(db, asked[i]);
    point->wasted_reads += reads;
    point->false_positives += none_needed ? reads : passed;
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

}  // namespace exactbloom::readamp
