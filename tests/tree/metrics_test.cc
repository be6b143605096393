// Metrics of an open database in the text format of Prometheus, and their bound.
#include "exactbloom/metrics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/measured_reads.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "plugin/metrics/metrics_text.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using Series = std::map<std::string, double>;

// The samples of a text, by name and labels. Each may be there once.
Series Read(const std::string& text) {
  Series series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# ", 0) == 0) continue;
    const std::size_t end = line.rfind(' ');
    EXPECT_TRUE(series.emplace(line.substr(0, end), std::stod(line.substr(end))).second) << line;
  }
  return series;
}

TEST(Metrics, AreThoseOfTheOpenDatabase) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, "{id=exactbloom;memory_budget=1M;budget=of_metrics}").ok());
  const Database db = Open(options, directory.path("db"));
  PutAndFlush(*db, 20'000);
  MoveDown(*db, 2);
  PutAndFlush(*db, 1000);
  std::string value;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(db->Get({}, KeyOf(2 * i + 1), &value).IsNotFound());
  }
  const MeasuredReads counted = MeasureReads(*options.statistics);
  EXPECT_GT(counted.keys.denied, 1000U);
  const Series series = Read(GetMetrics(*db, {"of_metrics", "unused"}));
  const std::string of_database = "{database=\"" + directory.path("db") + "\"";
  for (const SortedRuns& runs : GetSortedRuns(*db)) {
    const std::string labels =
        of_database + ",column_family=\"default\",level=\"" + std::to_string(runs.level) + "\"}";
    EXPECT_EQ(series.at("exactbloom_tables" + labels), 1.0);
    EXPECT_EQ(series.at("exactbloom_filter_bytes" + labels),
              static_cast<double>(runs.filter_bytes));
    EXPECT_NEAR(series.at("exactbloom_filter_bytes_per_key" + labels),
                static_cast<double>(runs.filter_bytes) / static_cast<double>(runs.keys), 1e-9);
    EXPECT_NEAR(series.at("exactbloom_predicted_wasted_reads_per_lookup" + labels),
                runs.wasted_per_1000 / 1000.0, 1e-12);
  }
  EXPECT_EQ(
      series.at("exactbloom_tables_without_filter" + of_database + ",column_family=\"default\"}"),
      0.0);
  EXPECT_EQ(series.at("exactbloom_lookups_total" + of_database + "}"), 1000.0);
  EXPECT_EQ(series.at("exactbloom_found_lookups_total" + of_database + "}"), 0.0);
  const std::string keys = of_database + ",asked_for=\"keys\"}";
  EXPECT_EQ(series.at("exactbloom_filter_denied_total" + keys),
            static_cast<double>(counted.keys.denied));
  EXPECT_EQ(series.at("exactbloom_filter_checked_total" + keys),
            static_cast<double>(counted.keys.denied + counted.keys.passed));
  EXPECT_EQ(series.at("exactbloom_memory_budget_bound_bytes{budget=\"of_metrics\"}"), 1 << 20);
  EXPECT_EQ(series.at("exactbloom_memory_budget_used_bytes{budget=\"of_metrics\"}"),
            static_cast<double>(GetMemoryBudgetUse("of_metrics").used_bytes));
  EXPECT_EQ(series.at("exactbloom_memory_budget_used_bytes{budget=\"unused\"}"), 0.0);
  EXPECT_EQ(series.count("exactbloom_memory_budget_bound_bytes{budget=\"unused\"}"), 0U);
  EXPECT_EQ(series.at("exactbloom_summed_column_families" + of_database + "}"), 0.0);
}

// RocksDB counts the keys that a MultiGet found before the lookups. Prometheus takes a counter that
// falls for one that began anew.
TEST(Metrics, CountersNeverFall) {
  constexpr std::uint64_t kKeys = 1000;
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path("db"));
  PutAndFlush(*db, kKeys);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kKeys; ++i) keys.push_back(KeyOf(i));
  std::atomic<bool> stopped{false};
  std::thread reader([&] {
    std::vector<std::string> values;
    while (!stopped) db->MultiGet({}, {keys.begin(), keys.end()}, &values);
  });
  Series before;
  for (int i = 0; i < 1000; ++i) {
    Series series = Read(GetMetrics(*db));
    for (const auto& [name, value] : series) {
      if (name.find("_total{") == std::string::npos) continue;
      EXPECT_GE(value, before[name]) << name;
    }
    before = std::move(series);
  }
  stopped = true;
  reader.join();
}

// Lookups read no data of a table of range deletions.
TEST(Metrics, PredictNoReadOfATableWithoutKeys) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom").ok());
  const Database db = Open(options, directory.path("db"));
  PutAndFlush(*db, 1000);
  const auto predict = [&] {
    return Read(GetMetrics(*db))
        .at("exactbloom_predicted_wasted_reads_per_lookup{database=\"" + directory.path("db") +
            "\",column_family=\"default\",level=\"0\"}");
  };
  const double before = predict();
  EXPECT_GT(before, 0.0);
  ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(0), KeyOf(10)).ok());
  ASSERT_TRUE(db->Flush({}).ok());
  EXPECT_EQ(predict(), before);
}

TEST(Metrics, AreOfADatabaseThatIsNotFollowed) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.statistics = nullptr;
  const Series series = Read(GetMetrics(*Open(options, directory.path("db"))));
  EXPECT_EQ(series.size(), 1U);
}

DatabaseMetrics MetricsOf(int families, int levels) {
  DatabaseMetrics metrics;
  metrics.database = "db";
  metrics.counted.emplace();
  metrics.budgets.emplace_back("", MemoryBudgetUse()).second.bound_bytes = 1;
  for (int i = 0; i < families; ++i) {
    FamilyMetrics& family = metrics.families["cf" + std::to_string(10'000 + i)];
    family.tables_without_filter = 1;
    for (int level = 0; level < levels; ++level) family.levels[level] = {2, 1000, 1250, 0.25};
  }
  return metrics;
}

TEST(Metrics, SumWhatExceedsTheirNumber) {
  const auto sum_of = [](const Series& series, const std::string& name) {
    double sum = 0.0;
    for (const auto& [key, value] : series) {
      if (key.rfind(name + "{", 0) == 0) sum += value;
    }
    return sum;
  };
  for (const int families : {1, 30, 32, 33, 34, 35, 60, 5000}) {
    SCOPED_TRACE(families);
    const std::string text = FormatMetrics(MetricsOf(families, 7));
    const Series series = Read(text);
    EXPECT_LE(series.size(), static_cast<std::size_t>(kMostSeries));
    EXPECT_EQ(sum_of(series, "exactbloom_tables"), 14.0 * families);
    EXPECT_EQ(sum_of(series, "exactbloom_tables_without_filter"), 1.0 * families);
    EXPECT_EQ(sum_of(series, "exactbloom_predicted_wasted_reads_per_lookup"), 7 * 0.25 * families);
    const double summed = series.at("exactbloom_summed_column_families{database=\"db\"}");
    EXPECT_EQ(summed != 0.0, families > 33) << summed;
    EXPECT_EQ(text.find(" column families are summed as (others)") != std::string::npos,
              summed != 0.0);
    EXPECT_TRUE(summed == 0.0 || series.size() > 950U) << series.size();
  }
  DatabaseMetrics with_budgets = MetricsOf(5000, 7);
  for (int i = 0; i < 20; ++i) {
    with_budgets.budgets.emplace_back(std::to_string(i), MemoryBudgetUse());
  }
  EXPECT_LE(Read(FormatMetrics(with_budgets)).size(), static_cast<std::size_t>(kMostSeries));
}

TEST(Metrics, NamesAreEscaped) {
  DatabaseMetrics metrics;
  metrics.database = "a\"b";
  for (const char* name : {"\xff\n", "\\xff\\x0a", "\xC3\xA9\xC3"}) {
    metrics.families[name].tables_without_filter = 1;
  }
  const Series series = Read(FormatMetrics(metrics));
  const std::string begin = "exactbloom_tables_without_filter{database=\"a\\\"b\",column_family=";
  EXPECT_EQ(series.count(begin + R"("\\xff\\x0a"})"), 1U);
  EXPECT_EQ(series.count(begin + R"("\\x5cxff\\x5cx0a"})"), 1U);
  EXPECT_EQ(series.count(begin + "\"\xC3\xA9\\\\xc3\"}"), 1U);  // UTF-8, and a part of it
}

// Each metric that an alert asks for is one that is told.
TEST(Metrics, OfTheAlertsExist) {
  std::ifstream file(ALERTS "/alerts.yml");
  const std::string alerts((std::istreambuf_iterator<char>(file)), {});
  std::set<std::string> told;
  for (const auto& [key, value] : Read(FormatMetrics(MetricsOf(1, 7)))) {
    told.insert(key.substr(0, key.find('{')));
  }
  const std::regex name("exactbloom_\\w+");
  std::set<std::string> asked;
  for (std::sregex_iterator found(alerts.begin(), alerts.end(), name), end; found != end; ++found) {
    asked.insert(found->str());
    EXPECT_EQ(told.count(found->str()), 1U) << found->str();
  }
  EXPECT_GT(asked.size(), 5U);
}

bool HasPromtool() { return std::system("promtool --version >/dev/null 2>&1") == 0; }

TEST(Metrics, AlertsPassTheirTests) {
  if (!HasPromtool()) GTEST_SKIP() << "there is no promtool, of Debian's prometheus";
  EXPECT_EQ(std::system("promtool check rules " ALERTS "/alerts.yml"), 0);
  EXPECT_EQ(std::system("promtool test rules " ALERTS "/alerts_test.yml"), 0);
}

TEST(Metrics, PassPromtool) {
  if (!HasPromtool()) GTEST_SKIP() << "there is no promtool, of Debian's prometheus";
  const TemporaryDirectory directory;
  for (const int families : {0, 1, 5000}) {
    std::ofstream(directory.path("metrics")) << FormatMetrics(MetricsOf(families, 7));
    const std::string command = "promtool check metrics <" + directory.path("metrics");
    EXPECT_EQ(std::system(command.c_str()), 0) << families;
  }
}

}  // namespace
}  // namespace exactbloom
