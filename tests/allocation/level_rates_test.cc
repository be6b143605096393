// In a real tree, the filters of every level take the bytes and have the rates that the options
// promise.
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_writer.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/levels.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/table_filters.h"
#include "exactbloom/theory/confidence_interval.h"
#include "plugin/bloom_filter_policy.h"
#include "sample_database.h"
#include "src/filter/block_format.h"
#include "statistics.h"

namespace exactbloom {
namespace {

constexpr std::size_t kRuns = 4;

// A settled tree: sorted runs, one per level, each with ten times as many keys as the one above,
// and the bytes and counters of their filters.
class LevelTree {
 public:
  static constexpr std::array<std::uint64_t, kRuns> kKeys = {50, 500, 5'000, 50'000};
  static constexpr std::uint64_t kAllKeys = 55'550;

  // Loads the runs into the levels first_level .. first_level + kRuns - 1, the largest first. Every
  // run is one table, and all runs span nearly the same keys.
  LevelTree(const rocksdb::Options& options, int first_level)
      : first_level_(first_level), db_(Open(options, directory_.path("db"))) {
    for (std::size_t run = kRuns; run-- > 0;) LoadRun(run);
  }

  rocksdb::DB& db() { return *db_; }

  // The bytes of a run's filter.
  std::uint64_t FilterBytes(std::size_t run) {
    for (const TableFilter& table : ListTableFilters(*db_)) {
      if (table.level != LevelOf(run)) continue;
      EXPECT_EQ(table.entries, kKeys[run]) << "not all in one table";
      return table.bytes;
    }
    ADD_FAILURE() << "no table of run " << run;
    return 0;
  }

  // Asks for kAllKeys absent keys, and returns what the filter of each run did by RocksDB's
  // counters of its level.
  std::array<FilterCounts, kRuns> AskAbsent() {
    rocksdb::PerfContext& context = *rocksdb::get_perf_context();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    context.ClearPerLevelPerfContext();
    context.EnablePerLevelPerfContext();
    exactbloom::AskAbsent(*db_, kAllKeys);
    std::array<FilterCounts, kRuns> runs;
    for (std::size_t run = 0; run < kRuns; ++run) {
      const auto& level =
          (*context.level_to_perf_context)[static_cast<std::uint32_t>(LevelOf(run))];
      runs[run].useful = level.bloom_filter_useful;
      runs[run].positive = level.bloom_filter_full_positive;
      runs[run].true_positive = level.bloom_filter_full_true_positive;
    }
    context.ClearPerLevelPerfContext();
    context.DisablePerLevelPerfContext();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return runs;
  }

 private:
  // Neighbouring keys lie in different runs.
  static std::size_t RunOf(std::uint64_t i) {
    const std::uint64_t remainder = i % 1111;
    return remainder == 0 ? 0 : remainder <= 10 ? 1 : remainder <= 110 ? 2 : 3;
  }

  void LoadRun(std::size_t run) {
    std::uint64_t keys = 0;
    for (std::uint64_t i = 0; i < kAllKeys; ++i) {
      if (RunOf(i) != run) continue;
      ASSERT_TRUE(db_->Put({}, KeyOf(2 * i), "value").ok());
      ++keys;
    }
    ASSERT_EQ(keys, kKeys[run]);
    ASSERT_TRUE(db_->Flush({}).ok());
    MoveDown(*db_, LevelOf(run));
  }

  int LevelOf(std::size_t run) const { return first_level_ + static_cast<int>(run); }

  TemporaryDirectory directory_;
  int first_level_;
  Database db_;
};

struct Case {
  const char* name;
  PolicyOptions options;
  int first_level;                   // 1: the tree ends above the last of 7 levels; 3: at it
  std::array<std::size_t, kRuns> d;  // with size_ratio: the elements of GeometricLevelBits
  bool keeps_memory;                 // at 10 bits per key
};

std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.name; }

PolicyOptions With(void (*set)(PolicyOptions&)) {
  PolicyOptions options;
  set(options);
  return options;
}

void SetSizeRatio(PolicyOptions& o) {
  o = PolicyKind::kExactBloom;
  o.size_ratio = 10;
}

std::vector<Case> Cases() {
  const auto ratio = [](PolicyOptions& o) {
    SetSizeRatio(o);
    o.ribbon = false;
  };
  return {
      {"ShallowSizeRatio", With(ratio), 1, {3, 3, 3, 0}, true},
      {"SizeRatio", With(ratio), 3, {3, 2, 1, 0}, true},
      {"SizeRatioRibbon", With(SetSizeRatio), 3, {3, 2, 1, 0}, true},
      {"Line", With([](PolicyOptions& o) { o.lines = 1; }), 3, {}, true},
      {"LevelBits",
       With([](PolicyOptions& o) {
         o.level_bits = {25, 20, 17, 13, 9};
       }),
       1,
       {},
       false},
      {"Rate", With([](PolicyOptions& o) { o.fpr = 0.02; }), 1, {}, false},
      {"HashSeed", With([](PolicyOptions& o) { o.hash_seed = 99; }), 1, {}, true},
  };
}

rocksdb::Options TreeOptions(const PolicyPointer& policy, bool dynamic_levels) {
  rocksdb::Options options = OptionsWith(policy);
  options.level_compaction_dynamic_level_bytes = dynamic_levels;
  return options;
}

class LevelRates : public testing::TestWithParam<Case> {
 protected:
  static Layout TheLayout() { return LayoutOf(GetParam().options); }

  static bool IsRibbon(std::size_t run) {
    return HasRibbon(GetParam().options) && run + 2 >= kRuns;
  }

  static double BitsPerKey(std::size_t run) {
    const PolicyOptions& options = GetParam().options;
    if (!options.level_bits.empty()) {
      return options.level_bits[run + static_cast<std::size_t>(GetParam().first_level)];
    }
    if (options.size_ratio == 0.0) return options.bits_per_key;
    const auto filters = GeometricLevelBits(TheLayout(), options.size_ratio, options.bits_per_key,
                                            HasRibbon(options));
    return filters[GetParam().d[run]].bits_per_key;
  }

  // The size of an ExactBloom filter.
  static FilterSize SizeOf(std::size_t run) {
    const std::uint64_t keys = LevelTree::kKeys[run];
    if (GetParam().options.fpr == 0.0) {
      return SizeAtBitsPerKey(TheLayout(), keys, BitsPerKey(run));
    }
    return *SmallestFilter(TheLayout(), keys, GetParam().options.fpr);
  }

  PolicyPointer policy_ = std::make_shared<BloomFilterPolicy>(GetParam().options);
  LevelTree tree_{TreeOptions(policy_, GetParam().first_level == 3), GetParam().first_level};
};

INSTANTIATE_TEST_SUITE_P(Options, LevelRates, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

// One test, since the tree takes the time.
TEST_P(LevelRates, AndSizesAreThosePromisedAndNoKeyIsLost) {
  const std::array<FilterCounts, kRuns> counts = tree_.AskAbsent();
  std::uint64_t all_bytes = 0;
  for (std::size_t run = 0; run < kRuns; ++run) {
    SCOPED_TRACE(run);
    const std::uint64_t asked = counts[run].useful + counts[run].FalsePositives();
    // The smallest run ends one of its distances before the largest does.
    EXPECT_GE(asked, LevelTree::kAllKeys - LevelTree::kAllKeys / LevelTree::kKeys[0] - 1);
    const std::uint64_t bytes = tree_.FilterBytes(run);
    all_bytes += bytes;
    if (IsRibbon(run)) {
      const double wanted = BitsPerKey(run) * static_cast<double>(LevelTree::kKeys[run]) / 8.0;
      EXPECT_NEAR(static_cast<double>(bytes) / wanted, 1.0, 0.02);
      const double rate =
          RibbonFalsePositiveRate(LevelTree::kKeys[run], (bytes - kRibbonMetadataBytes) * 8);
      const Interval interval = WilsonInterval(counts[run].FalsePositives(), asked, kZ999);
      EXPECT_TRUE(interval.Contains(rate))
          << rate << " outside " << interval.low << " .. " << interval.high;
    } else {
      const FilterSize size = SizeOf(run);
      EXPECT_EQ(bytes,
                filter::ArrayBytes(size.bits) +
                    filter::TrailerBytes(LevelTree::kKeys[run], GetParam().options.hash_seed));
      ExpectExactRate(counts[run].FalsePositives(), asked, TheLayout(), size,
                      LevelTree::kKeys[run]);
    }
  }
  if (GetParam().keeps_memory) {
    const double bits_per_key =
        8.0 * static_cast<double>(all_bytes) / static_cast<double>(LevelTree::kAllKeys);
    EXPECT_NEAR(bits_per_key, 10.0, 0.3);
  }
  ExpectPresent(tree_.db(), LevelTree::kAllKeys);
}

// The info log.

std::vector<std::string> LinesOfTheLog(const std::string& database) {
  std::ifstream log(database + "/LOG");
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    const std::size_t ours = line.find("exactbloom: ");
    if (ours != std::string::npos) lines.push_back(line.substr(ours));
  }
  return lines;
}

std::vector<std::string> Announced(const PolicyOptions& options) {
  const TemporaryDirectory directory;
  const rocksdb::Options with = OptionsWith(std::make_shared<BloomFilterPolicy>(options));
  const Database db = Open(with, directory.path("db"));
  rocksdb::ColumnFamilyHandle* other = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(with, "other", &other).ok());
  for (int flush = 0; flush < 3; ++flush) {
    PutAndFlush(*db, 100);
    PutAndFlush(*db, 100, "value", 0, other);
  }
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  return LinesOfTheLog(directory.path("db"));
}

TEST(InfoLog, SaysOnceForEachColumnFamilyWhatItsTablesGet) {
  const std::string start = "exactbloom: column family [";
  const std::string kernel = ", kernel " + std::string(KernelName());
  const auto lines = [&](const std::string& policy) {
    return std::vector<std::string>{start + "default]: " + policy + kernel,
                                    start + "other]: " + policy + kernel};
  };
  EXPECT_EQ(Announced({}), lines("classic_bloom:10"));
  EXPECT_EQ(Announced(With([](PolicyOptions& o) { o.fpr = 0.01; })),
            lines("{id=classic_bloom;fpr=0.01}"));
  EXPECT_EQ(Announced(With([](PolicyOptions& o) {
              o.lines = 1;
              o.level_bits = {14, 9.5};
            })),
            lines("{id=classic_bloom;lines=1;level_bits=14:9.5}"));
  const std::vector<std::string> by_ratio = Announced(With(SetSizeRatio));
  ASSERT_EQ(by_ratio.size(), 2U);
  const std::string fields = "{id=exactbloom;bits_per_key=10;size_ratio=10}";
  EXPECT_EQ(by_ratio[0].find(start + "default]: " + fields + kernel + ", bits per key 9."), 0U)
      << by_ratio[0];
  EXPECT_NE(by_ratio[0].find(" from the bottommost level up"), std::string::npos) << by_ratio[0];
}

// SstFileWriter does not ask whether the options are valid.
TEST(InfoLog, SaysWhyTablesGetNoFilters) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(PolicyPointer(NewClassicBloomFilterPolicy(-1.0)));
  ASSERT_TRUE(
      rocksdb::CreateLoggerFromOptions(directory.path(""), options, &options.info_log).ok());
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ASSERT_TRUE(writer.Open(directory.path("table.sst")).ok());
  ASSERT_TRUE(writer.Put("key", "value").ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::vector<std::string> lines = LinesOfTheLog(directory.path(""));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("no filters, because of"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("bits_per_key is '-1'"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace exactbloom
