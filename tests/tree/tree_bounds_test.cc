// What holds for exactbloom in every tree, after every job: at most 106% of the bytes of
// bloomfilter, and a quarter of the wasted reads of classic Bloom filters; on average no more than
// RocksDB's Ribbon filters of the same bytes. Rates are those of the filters that are there, by
// theory, so that nothing is left to chance but the moments of compactions.
#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rocksdb_ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "listed_filters.h"

namespace exactbloom {
namespace {

constexpr double kBits = 10.0;
constexpr std::uint64_t kKeys = 40'000;

double RateOfClassicBloom(std::uint64_t keys) {
  const auto bits = static_cast<std::uint64_t>(kBits) * keys;
  return FalsePositiveRate(BloomKind::kClassic, bits, keys,
                           OptimalProbes(BloomKind::kClassic, bits, keys));
}

double RateOfRibbon(const ListedFilter& table, double bits_per_key) {
  // RocksDB has no filter in less than a cache line.
  constexpr std::uint64_t kLeastBits = 8 * 64;
  const std::uint64_t keys = table.filter_keys;
  const auto bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys));
  return bits < kLeastBits ? 1.0 : RocksDBRibbonFalsePositiveRate(keys, bits);
}

// What RocksDB's Bloom filter takes: whole cache lines and five bytes.
double BytesOfBloomfilter(std::uint64_t keys) {
  constexpr std::uint64_t kLine = 64;
  const std::uint64_t bytes = (static_cast<std::uint64_t>(kBits) * keys + 7) / 8;
  return static_cast<double>((bytes + kLine - 1) / kLine * kLine + 5);
}

// A tree after a job. Wasted reads are per lookup of an absent key that lies among the keys.
struct Moment {
  double keys = 0.0;  // in filters
  double bytes = 0.0;
  double more_trailer_bytes = 0.0;
  double bytes_of_bloomfilter = 0.0;
  double wasted = 0.0;
  double wasted_by_bloom = 0.0;  // if each table had a classic Bloom filter of kBits
  // If each had a Ribbon filter of RocksDB of the mean bits per key.
  double wasted_by_ribbon = 0.0;

  double BitsPerKey() const { return 8.0 * bytes / keys; }
};

// The part of the keys, evenly sampled, that lie in the table's range.
double CoveredPart(const rocksdb::LiveFileMetaData& file, std::uint64_t last_key) {
  constexpr std::uint64_t kSamples = 100;
  std::uint64_t covered = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::string key = KeyOf((2 * i + 1) * last_key / (2 * kSamples));
    if (file.smallestkey <= key && key <= file.largestkey) ++covered;
  }
  return static_cast<double>(covered) / kSamples;
}

// Without keys if the tree changed meanwhile: a part of it has no average.
Moment MomentOf(rocksdb::DB& db) {
  std::map<std::uint64_t, std::pair<ListedFilter, double>> filters;  // with their rates
  std::set<std::uint64_t> listed;
  Moment moment;
  for (ListedFilter& table : ListTableFilters(db)) {
    listed.insert(table.number);
    const auto blocks = ReadFilterBlocks(db, table.path);
    if (!blocks || table.filter_keys == 0) continue;
    moment.keys += static_cast<double>(table.filter_keys);
    // A trailer has up to 8 bytes more than RocksDB's.
    moment.bytes += static_cast<double>(table.bytes);
    moment.more_trailer_bytes += table.bytes == 0 ? 0.0 : 8.0;
    moment.bytes_of_bloomfilter += BytesOfBloomfilter(table.filter_keys);
    const double rate = blocks->Rate(table.filter_keys);
    filters[table.number] = {std::move(table), rate};
  }
  std::vector<rocksdb::LiveFileMetaData> files;
  db.GetLiveFilesMetaData(&files);
  std::string last = KeyOf(0);
  for (const auto& file : files) {
    last = std::max(last, file.largestkey);
    if (listed.erase(file.file_number) == 0) return {};
  }
  if (!listed.empty()) return {};
  const std::uint64_t last_key = std::stoull(last.substr(last.find_first_of("0123456789")));
  for (const rocksdb::LiveFileMetaData& file : files) {
    const auto found = filters.find(file.file_number);
    if (found == filters.end()) continue;
    const auto& [table, rate] = found->second;
    const double part = CoveredPart(file, last_key);
    moment.wasted += part * rate;
    moment.wasted_by_bloom += part * RateOfClassicBloom(table.filter_keys);
    moment.wasted_by_ribbon += part * RateOfRibbon(table, moment.BitsPerKey());
  }
  return moment;
}

// Records the tree after each flush and compaction.
class MomentWatch : public rocksdb::EventListener {
 public:
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& /*info*/) override {
    Add(*db);
  }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& /*info*/) override {
    Add(*db);
  }
  void Add(rocksdb::DB& db) {
    const Moment moment = MomentOf(db);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (moment.keys > 0.0) moments_.push_back(moment);
  }
  const std::vector<Moment>& moments() const { return moments_; }

 private:
  std::mutex mutex_;
  std::vector<Moment> moments_;
};

struct Scene {
  rocksdb::Options options;
  rocksdb::BlockBasedTableOptions table = PlannedSizes();
  TemporaryDirectory directory;
  Database db;

  void Reopen() {
    db.reset();
    db = Open(options, directory.path("db"));
    ASSERT_NE(db, nullptr);
  }
  // Keys in steps, so that tables overlap; or ascending.
  void Put(std::uint64_t first, std::uint64_t count, std::uint64_t step = 1) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(db->Put({}, KeyOf(2 * (first + i * step % count)), "value").ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }
  void CompactToOneRun() { ASSERT_TRUE(ForceCompaction(*db).ok()); }
  void Ingest(std::uint64_t count) {
    const std::string file = directory.path("ingested.sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ASSERT_TRUE(writer.Open(file).ok());
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_TRUE(writer.Put(KeyOf(2 * i), "value").ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(db->IngestExternalFile({file}, {}).ok());
  }
};

constexpr std::uint64_t kStep = 7919;  // a prime

void LoadAll(Scene& scene) { Load(*scene.db, kKeys); }
void LoadUncompacted(Scene& scene) { scene.Put(0, kKeys, kStep); }
void LoadAscending(Scene& scene) {
  scene.Put(0, kKeys);
  AwaitQuiet(*scene.db);
}
void KeepDefaults(Scene& /*scene*/) {}
void CompactNothing(Scene& scene) { scene.options.disable_auto_compactions = true; }
void SetUniversal(Scene& scene) {
  scene.options.compaction_style = rocksdb::kCompactionStyleUniversal;
}

struct Tree {
  const char* name;
  std::function<void(Scene&)> set;  // before the database is opened
  std::function<void(Scene&)> load;
  bool is_one_run = false;      // in the end
  double most_by_bloom = 0.25;  // more where small filters have trailers
  double most_by_ribbon = 1.05;
  double most_bytes = 1.06;  // of those of bloomfilter, and 8 per table, as trailers are longer
};

class TreeBounds : public testing::TestWithParam<Tree> {};

INSTANTIATE_TEST_SUITE_P(
    Trees, TreeBounds,
    testing::Values(
        Tree{"Leveled", KeepDefaults, LoadAll},
        Tree{"DynamicLevels",
             [](Scene& s) { s.options.level_compaction_dynamic_level_bytes = true; }, LoadAll},
        Tree{"RatioOf4", [](Scene& s) { s.options.max_bytes_for_level_multiplier = 4; }, LoadAll},
        Tree{"Universal", SetUniversal, LoadAll},
        Tree{"UniversalOfManyRuns",
             [](Scene& s) {
               SetUniversal(s);
               s.options.level0_file_num_compaction_trigger = 12;
             },
             LoadAll},
        Tree{"Fifo",
             [](Scene& s) {
               s.options.compaction_style = rocksdb::kCompactionStyleFIFO;
               s.options.max_open_files = -1;
             },
             LoadAll},
        Tree{"AllInLevel0", CompactNothing, LoadUncompacted},
        Tree{"OneTable",
             [](Scene& s) {
               CompactNothing(s);
               s.options.write_buffer_size = 64 << 20;
             },
             LoadUncompacted},
        Tree{"OneRun", KeepDefaults,
             [](Scene& s) {
               LoadAll(s);
               s.CompactToOneRun();
             },
             true},
        Tree{"BulkThenOneRun", CompactNothing,
             [](Scene& s) {
               LoadUncompacted(s);
               s.CompactToOneRun();
             },
             true},
        Tree{"Partitions",
             [](Scene& s) {
               PartitionFilters(4096, &s.table);
               s.table.optimize_filters_for_memory = true;
             },
             LoadAll, false, 0.25, 1.1},
        Tree{"FitsMemory", [](Scene& s) { s.table.optimize_filters_for_memory = true; }, LoadAll},
        Tree{"SmallPartitions", [](Scene& s) { PartitionFilters(512, &s.table); }, LoadAll, false,
             0.5, 2.5, 1.1},
        Tree{"Ascending", KeepDefaults, LoadAscending},
        Tree{"AscendingAfterALoad", KeepDefaults,
             [](Scene& s) {
               Load(*s.db, kKeys / 2);
               s.Put(kKeys / 2, kKeys / 2);
               AwaitQuiet(*s.db);
             }},
        // A compaction takes the filters of large runs away, and a small run keeps its share.
        Tree{"NoFilterAtTheBottom", [](Scene& s) { s.options.optimize_filters_for_hits = true; },
             LoadAll, false, 0.45, 1.2, 1.12},
        Tree{"TablesOfOneKey", [](Scene& s) { s.options.write_buffer_size = 1; },
             [](Scene& s) {
               constexpr std::uint64_t kTables = 60;
               for (std::uint64_t i = 0; i < kTables; ++i) s.Put(i, 1);
               AwaitQuiet(*s.db);
             },
             false, 4.0},
        Tree{"Restarts", KeepDefaults,
             [](Scene& s) {
               constexpr std::uint64_t kSessions = 4;
               for (std::uint64_t session = 0; session < kSessions; ++session) {
                 s.Reopen();
                 s.Put(session * kKeys / kSessions, kKeys / kSessions, kStep);
               }
               AwaitQuiet(*s.db);
             }},
        Tree{"CompactFiles", KeepDefaults,
             [](Scene& s) {
               LoadAll(s);
               ASSERT_EQ(CompactAllFiles(*s.db, s.db->DefaultColumnFamily()).ToString(), "OK");
             }},
        Tree{"Ingested", KeepDefaults,
             [](Scene& s) {
               s.Ingest(kKeys);
               Load(*s.db, kKeys / 4, kKeys / 2);
             }}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(TreeBounds, AreKept) {
  Scene scene;
  scene.table.filter_policy = PolicyOf(ExactBloomOptions());
  scene.options = FollowingOptions(scene.table.filter_policy, NewTreeListener());
  const auto watch = std::make_shared<MomentWatch>();
  scene.options.listeners.push_back(watch);
  scene.options.write_buffer_size = 256 << 10;
  scene.options.target_file_size_base = 128 << 10;
  scene.options.max_bytes_for_level_base = 512 << 10;
  GetParam().set(scene);
  scene.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(scene.table));
  scene.Reopen();
  GetParam().load(scene);
  watch->Add(*scene.db);

  double wasted = 0.0;
  double wasted_by_ribbon = 0.0;
  double most_bytes = 0.0;
  double most_wasted = 0.0;
  for (const Moment& moment : watch->moments()) {
    most_bytes = std::max(most_bytes,
                          (moment.bytes - moment.more_trailer_bytes) / moment.bytes_of_bloomfilter);
    most_wasted = std::max(most_wasted, moment.wasted / moment.wasted_by_bloom);
    wasted += moment.wasted;
    wasted_by_ribbon += moment.wasted_by_ribbon;
  }
  EXPECT_LE(most_bytes, GetParam().most_bytes);
  EXPECT_LE(most_wasted, GetParam().most_by_bloom);
  EXPECT_LE(wasted / wasted_by_ribbon, GetParam().most_by_ribbon);
  if (GetParam().is_one_run) {
    EXPECT_GE(watch->moments().back().BitsPerKey(), 0.98 * kBits);
  }
}

}  // namespace
}  // namespace exactbloom
