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

#include "plugin/policy_options.h"
#include "readamp/tree/counting_file_system.h"
#include "src/model/sorted_runs.h"
#include "src/model/wasted_reads.h"

namespace exactbloom::readamp {
namespace {

// Whether RocksDB asks the filter of a table that ends before this key, and reads nothing, whatever
// the filter answers.
bool MayLieBehindATable(rocksdb::DB& db, const std::string& key) {
  const ListedTables tables = ListTables(db);
  return RunsOf(tables).AreAllAsked() &&
         std::any_of(tables.begin(), tables.end(),
                     [&](const auto& table) { return table.second.largestkey < key; });
}

double PresentOptimum(const rocksdb::FilterPolicy* policy, const std::vector<GrowthRun>& runs) {
  const std::optional<PolicyOptions> ours = OptionsOf(policy);
  std::vector<model::FilteredRun> filtered;
  filtered.reserve(runs.size());
  for (const GrowthRun& run : runs) {
    filtered.push_back(
        {static_cast<double>(run.keys), static_cast<double>(run.filter_bytes), run.asked});
  }
  return model::LeastWastedReads(ours ? BloomKindOf(*ours) : BloomKind::kClassic,
                                 ours && HasRibbon(*ours), filtered);
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

  // Adds the sorted runs of the tree as it is, which absent keys ask.
  void AddRuns(rocksdb::DB& db, const std::vector<std::string>& asked, GrowthPoint* point) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const ListedTables tables = ListTables(db);
    const model::SortedRuns runs = RunsOf(tables);
    for (const std::vector<std::size_t>& places : runs.Runs()) {
      GrowthRun& run = point->sorted_runs.emplace_back();
      run.level = tables[places.front()].first;
      run.tables = places.size();
      for (const std::size_t place : places) {
        const rocksdb::SstFileMetaData& file = tables[place].second;
        const TableFilter& table = tables_[file.db_path + file.name];
        run.keys += table.keys;
        run.filter_bytes += table.bytes;
        point->unfiltered_tables += table.bytes == 0 ? 1U : 0U;
      }
      const std::size_t number = point->sorted_runs.size() - 1;
      const auto found = std::count_if(asked.begin(), asked.end(), [&](const std::string& key) {
        return runs.Find(number, key).has_value();
      });
      run.asked = static_cast<double>(found) / static_cast<double>(asked.size());
      point->tables += run.tables;
      point->keys_in_tables += run.keys;
      point->filter_bytes += run.filter_bytes;
      point->runs_asked += run.asked;
    }
  }

 private:
  struct TableFilter {
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, TableFilter> tables_;  // by their paths
};

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
  point.present_optimum = PresentOptimum(policy_, point.sorted_runs);
  if (point.keys_in_tables > 0) {
    point.bits_per_key =
        8.0 * static_cast<double>(point.filter_bytes) / static_cast<double>(point.keys_in_tables);
  }
  points_.push_back(std::move(point));
}

void GrowthMeasurement::LookUp(rocksdb::DB& db, const std::vector<std::string>& asked,
                               GrowthPoint* point) const {
  rocksdb::ReadOptions read_options;
  read_options.fill_cache = false;  // so that every search of a table is a read
  rocksdb::PinnableSlice value;
  CountedThread counted;
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (i == asked.size() / 2) sizes_->AddRuns(db, asked, point);
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
