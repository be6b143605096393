// Memory budgets: whether the bound holds while databases that share it grow five times beyond it,
// how well the bytes are divided among all their runs, and what that costs.
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/table_filters.h"
#include "machine.h"
#include "output_file.h"
#include "plugin/allocation/tree_division.h"
#include "plugin/tree/filter_budget.h"
#include "src/analysis/run_division.h"
#include "tool/support/progress.h"
#include "tool/support/text_table.h"

namespace exactbloom {
namespace {

using Clock = std::chrono::steady_clock;
using Database = std::unique_ptr<rocksdb::DB>;

constexpr double kMostBits = 10.0;  // bits_per_key
constexpr int kThreads = 8;
constexpr int kPoints = 20;

void Expect(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

Database Open(const rocksdb::Options& options, const std::string& path) {
  rocksdb::DB* db = nullptr;
  Expect(rocksdb::DB::Open(options, path, &db));
  return Database(db);
}

// The bytes of the filters of all tables, from when they are written to when a job has replaced
// them.
class FileWatch : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    files_[info.file_path] = info.table_properties.filter_size;
    bytes_ += info.table_properties.filter_size;
    most_ = std::max(most_, bytes_);
  }
  void OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& file : info.input_files) {
      const auto& outputs = info.output_files;
      if (std::find(outputs.begin(), outputs.end(), file) != outputs.end()) continue;
      bytes_ -= files_[file];
      files_.erase(file);
    }
  }
  std::uint64_t Most() const { return most_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> files_;
  std::uint64_t bytes_ = 0;
  std::uint64_t most_ = 0;
};

struct Crowd {
  std::string name;
  int databases;
  int families;  // of each
  rocksdb::CompactionStyle style;
  std::uint64_t keys;  // of each family
};

// Sorted runs: their keys, filter bits and kinds, and the rates of their filters.
struct Runs {
  std::vector<analysis::EqualRuns> runs;
  double bits = 0.0;
  double wasted = 0.0;

  // Of one family.
  void Add(const std::vector<TableFilter>& tables) {
    struct Run {
      double keys = 0.0;
      double passed = 0.0;  // of as many absent keys
    };
    std::map<std::pair<int, std::uint64_t>, Run> found;
    double all_keys = 0.0;
    for (const TableFilter& table : tables) {
      const auto keys = static_cast<double>(KeysOf(table));
      Run& run = found[{table.level, table.level == 0 ? table.number : 0}];
      run.keys += keys;
      run.passed += keys * RateOf(table);
      all_keys += keys;
      bits += 8.0 * static_cast<double>(table.bytes);
    }
    for (const auto& [place, run] : found) {
      runs.push_back({run.keys, 1.0, run.keys >= analysis::kRibbonLeastPart * all_keys});
      wasted += run.passed / run.keys;
    }
  }

  double Least() const {
    const std::vector<double> best = analysis::DivideAmongRuns(Layout(), runs, bits);
    double least = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto keys = static_cast<std::uint64_t>(runs[i].keys);
      const auto bits_of_run = static_cast<std::uint64_t>(best[i] * runs[i].keys);
      least +=
          runs[i].ribbon ? RibbonFalsePositiveRate(keys, bits_of_run) : OfBloom(keys, bits_of_run);
    }
    return least;
  }

 private:
  // A table without a filter has none of its keys in it.
  static std::uint64_t KeysOf(const TableFilter& table) {
    return table.filter_keys != 0 ? table.filter_keys : table.entries;
  }
  static double OfBloom(std::uint64_t keys, std::uint64_t bits) {
    const int probes = bits == 0 ? 0 : OptimalProbes(Layout(), bits, keys);
    return probes == 0 ? 1.0 : FalsePositiveRate(Layout(), bits, keys, probes);
  }
  static double RateOf(const TableFilter& table) {
    if (table.family == FilterFamily::kRibbon) {
      return RibbonFalsePositiveRateOfSlots(
          table.ribbon_slots, 8 * (table.bytes - kRibbonMetadataBytes * table.blocks));
    }
    return table.family == FilterFamily::kExactBloom ? OfBloom(KeysOf(table), table.bits) : 1.0;
  }
};

struct Result {
  Crowd crowd;
  double most_of_bound = 0.0;  // the most that was held at a moment
  double used_of_bound = 0.0;  // the mean, of live tables
  double over_best = 0.0;      // the mean of the wasted reads over the mean of the least
  double bits_per_key = 0.0;   // in the end
};

// Loads keys in random order into all families at once, and looks at kPoints points.
class GrowingCrowd {
 public:
  GrowingCrowd(const Crowd& crowd, const std::string& directory, support::Progress& progress)
      : crowd_(crowd), progress_(progress) {
    const double all_keys = static_cast<double>(crowd.keys) * crowd.databases * crowd.families;
    bound_ = static_cast<std::uint64_t>(all_keys * kMostBits / 8.0 / 5.0);
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.compaction_style = crowd.style;
    // A run of a twentieth of the family's keys.
    options.write_buffer_size = std::max<std::size_t>(256 << 10, crowd.keys * 60 / 40);
    options.target_file_size_base = options.write_buffer_size;
    options.max_bytes_for_level_base = 4 * options.write_buffer_size;
    options.level0_file_num_compaction_trigger = 4;
    options.max_background_jobs = 2;
    options.listeners = {watch_};
    Expect(SetFilterPolicy(
        &options, fmt::format("{{id=exactbloom;bits_per_key={};memory_budget={};budget=benchmark}}",
                              kMostBits, bound_)));
    for (int i = 0; i < crowd.databases; ++i) {
      databases_.push_back(Open(options, fmt::format("{}/{}", directory, i)));
      for (int family = 0; family < crowd.families; ++family) {
        stores_.push_back({databases_.back().get(), databases_.back()->DefaultColumnFamily(), {}});
        if (family == 0) continue;
        Expect(databases_.back()->CreateColumnFamily(options, fmt::format("f{}", family),
                                                     &stores_.back().family));
        handles_.push_back(stores_.back());
      }
    }
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      stores_[i].order.resize(crowd.keys);
      for (std::uint64_t key = 0; key < crowd.keys; ++key)
        stores_[i].order[key] = static_cast<std::uint32_t>(key);
      std::shuffle(stores_[i].order.begin(), stores_[i].order.end(), std::mt19937_64(i));
    }
  }

  ~GrowingCrowd() {
    for (const Store& store : handles_)
      store.db->DestroyColumnFamilyHandle(store.family).PermitUncheckedError();
  }

  Result Run() {
    Result result{crowd_};
    double wasted = 0.0;
    double least = 0.0;
    for (int point = 0; point < kPoints; ++point) {
      Load(point);
      Runs runs;
      double keys = 0.0;
      std::map<std::string, std::vector<TableFilter>> families;
      for (const Database& db : databases_) {
        for (TableFilter& table : ListTableFilters(*db)) {
          keys += static_cast<double>(table.entries);
          families[fmt::format("{} {}", db->GetName(), table.column_family)].push_back(
              std::move(table));
        }
      }
      for (const auto& [name, tables] : families) runs.Add(tables);
      if (runs.runs.empty()) continue;
      result.used_of_bound += runs.bits / 8.0 / static_cast<double>(bound_) / kPoints;
      wasted += runs.wasted;
      least += runs.Least();
      result.bits_per_key = runs.bits / keys;
    }
    result.over_best = wasted / least;
    result.most_of_bound = static_cast<double>(watch_->Most()) / static_cast<double>(bound_);
    return result;
  }

 private:
  struct Store {
    rocksdb::DB* db;
    rocksdb::ColumnFamilyHandle* family;
    std::vector<std::uint32_t> order;
  };

  void Load(int point) {
    std::atomic<std::size_t> next{0};
    const auto load = [&] {
      const std::string value(44, 'v');
      for (std::size_t i = next++; i < stores_.size(); i = next++) {
        const Store& store = stores_[i];
        const auto at = [&](int part) {
          return crowd_.keys * static_cast<std::uint64_t>(part) / kPoints;
        };
        for (std::uint64_t k = at(point); k < at(point + 1); ++k) {
          Expect(store.db->Put({}, store.family, fmt::format("{:016}", store.order[k]), value));
          progress_.Add(1);
        }
      }
    };
    std::array<std::thread, kThreads> threads;
    for (std::thread& thread : threads) thread = std::thread(load);
    for (std::thread& thread : threads) thread.join();
  }

  const Crowd crowd_;
  support::Progress& progress_;
  std::uint64_t bound_ = 0;
  std::shared_ptr<FileWatch> watch_ = std::make_shared<FileWatch>();
  std::vector<Database> databases_;
  std::vector<Store> stores_;
  std::vector<Store> handles_;
};

double Microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// The time of an event and of a table's share beside 59 other databases.
nlohmann::json CostOfATable() {
  constexpr int kDatabases = 60;
  constexpr int kRepetitions = 2000;
  tree::FilterBudget budget("cost");
  budget.SetBytes(64 << 20);
  std::vector<std::shared_ptr<tree::LsmShape>> shapes;
  for (int i = 0; i < kDatabases; ++i) {
    shapes.push_back(std::make_shared<tree::LsmShape>(std::to_string(i)));
    std::vector<tree::LiveTable> tables;
    for (std::uint64_t t = 0; t < 40; ++t) {
      tables.push_back({t < 4    ? 0
                        : t < 12 ? 1
                                 : 2,
                        t + 1,
                        {25'000 + 100 * static_cast<std::uint64_t>(i), 30'000}});
    }
    shapes.back()->Refresh(shapes.back()->Changes(), {{"default", tables}});
    shapes.back()->SetPolicy("default", budget.Id());
    budget.Follow(shapes.back());
  }
  const tree::TreeDivision division({Layout(), kMostBits, true});
  shapes[0]->BeginFlush("default", 1);
  double bits = 0.0;
  const auto share = [&] {
    const auto lock = budget.Lock();
    auto view = shapes[0]->View("default", 1, 0);
    budget.AddOthers(*shapes[0], *view);
    bits += division.Share(*view, 25'000.0).bits_per_key;
  };
  share();
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kRepetitions; ++i) share();
  const Clock::time_point shared = Clock::now();
  for (int i = 0; i < kRepetitions; ++i) {
    shapes[0]->BeginFlush("default", 2 + i);
    shapes[0]->EndJob("default", 2 + i,
                      {{0, 1'000'000U + static_cast<std::uint64_t>(i), {25'000, 30'000}}});
  }
  const Clock::time_point ended = Clock::now();
  if (bits <= 0.0) throw std::runtime_error("no bits were shared");
  return {{"databases", kDatabases},
          {"us_per_share", Microseconds(shared - begin) / kRepetitions},
          {"us_per_event", Microseconds(ended - shared) / kRepetitions / 2.0}};
}

// The first flushes after a database of many tables is opened.
nlohmann::json CostOfOpening(int tables, const std::string& directory,
                             support::Progress& progress) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.max_open_files = 1000;
  const std::string path = directory + "/many";
  {
    rocksdb::Options plain = options;
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kMostBits));
    plain.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
    const Database db = Open(plain, path);
    std::vector<std::string> files;
    for (int i = 0; i < tables; ++i) {
      files.push_back(fmt::format("{}/{}.sst", directory, i));
      rocksdb::SstFileWriter writer({}, plain);
      Expect(writer.Open(files.back()));
      for (int k = 0; k < 10; ++k) Expect(writer.Put(fmt::format("{:08}{:02}", i, k), "value"));
      Expect(writer.Finish());
      progress.Add(1);
      if (files.size() < 1000 && i + 1 < tables) continue;
      rocksdb::IngestExternalFileOptions ingestion;
      ingestion.move_files = true;
      Expect(db->IngestExternalFile(files, ingestion));
      files.clear();
    }
  }
  nlohmann::json results;
  for (const std::string policy :
       {"bloomfilter:10", "{id=exactbloom;memory_budget=1G;budget=many}"}) {
    if (policy[0] == '{') Expect(SetFilterPolicy(&options, policy));
    const Database db = Open(options, path);
    std::vector<double> milliseconds;
    for (int flush = 0; flush < 4; ++flush) {
      for (int k = 0; k < 1000; ++k)
        Expect(db->Put({}, fmt::format("{:08}{:02}x{}", 100 * k, 1, flush), "value"));
      const Clock::time_point begin = Clock::now();
      Expect(db->Flush({}));
      milliseconds.push_back(Microseconds(Clock::now() - begin) / 1000.0);
    }
    results.push_back({{"policy", policy}, {"tables", tables}, {"flush_ms", milliseconds}});
  }
  return results;
}

int Main(int argc, char** argv) {
  CLI::App app("Memory budgets: the bound, the division, and the cost");
  std::uint64_t keys = 4'000'000;
  int tables = 100'000;
  std::string json;
  std::string directory = ".";
  app.add_option("--keys", keys, "of all databases")->capture_default_str();
  app.add_option("--tables", tables, "of the database that is opened")->capture_default_str();
  app.add_option("--directory", directory, "where the databases are made and removed")
      ->capture_default_str();
  app.add_option("--json", json, "also write the results to this file");
  CLI11_PARSE(app, argc, argv);
  OutputFile output(json);
  const std::filesystem::path folder = std::filesystem::path(directory) / "budget_benchmark";
  std::vector<Crowd> crowds;
  for (const auto style : {rocksdb::kCompactionStyleLevel, rocksdb::kCompactionStyleUniversal}) {
    const std::string name = style == rocksdb::kCompactionStyleLevel ? "by levels" : "universal";
    crowds.push_back({name, 1, 1, style, keys});
    crowds.push_back({name, 60, 1, style, keys / 60});
    crowds.push_back({name, 1, 20, style, keys / 20});
  }
  support::TextTable text({"compaction", "databases", "families", "most held / bound",
                           "used / bound", "over the best", "bits/key"});
  nlohmann::json rows = nlohmann::json::array();
  support::Progress progress;
  for (const Crowd& crowd : crowds) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    progress.Begin(fmt::format("{}, {} databases", crowd.name, crowd.databases), keys);
    const Result result = GrowingCrowd(crowd, folder, progress).Run();
    text.AddRow(
        {crowd.name, crowd.databases, crowd.families, fmt::format("{:.3f}", result.most_of_bound),
         fmt::format("{:.2f}", result.used_of_bound), fmt::format("{:.2f}", result.over_best),
         fmt::format("{:.2f}", result.bits_per_key)});
    rows.push_back({{"tree", crowd.name},
                    {"databases", crowd.databases},
                    {"families", crowd.families},
                    {"keys", keys},
                    {"most_of_bound", result.most_of_bound},
                    {"used_of_bound", result.used_of_bound},
                    {"over_best", result.over_best},
                    {"bits_per_key", result.bits_per_key}});
  }
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  progress.Begin("a database of many tables", static_cast<std::uint64_t>(tables));
  const nlohmann::json opening = CostOfOpening(tables, folder, progress);
  const nlohmann::json cost = CostOfATable();
  progress.End();
  std::filesystem::remove_all(folder);
  fmt::print("{} keys, at {} bits per key five times the bound; RocksDB {}\n\n{}\n{}\n{}\n", keys,
             kMostBits, RocksDBVersion(), text.Format(), cost.dump(), opening.dump(1));
  output.Commit(nlohmann::json({{"machine", DescribeCpu()},
                                {"rocksdb", RocksDBVersion()},
                                {"growth", rows},
                                {"cost", cost},
                                {"opening", opening}})
                    .dump(1) +
                "\n");
  return 0;
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  try {
    return exactbloom::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "budget_benchmark: {}\n", error.what());
    return 2;
  }
}
