#include "metrics_text.h"

#include <algorithm>
#include <limits>
#include <locale>
#include <set>
#include <sstream>
#include <string_view>

#include "../utf8.h"

namespace exactbloom {
namespace {

constexpr const char* kOthers = "(others)";

// A name as the value of a label, which has to be UTF-8: bytes that are not, control characters of
// ASCII and backslashes are \xNN in it, and its backslashes and quotes are escaped.
std::string LabelValue(std::string_view name) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  while (!name.empty()) {
    const utf8::Character character = utf8::FirstCharacter(name);
    const std::string_view bytes = name.substr(0, character.bytes);
    const char c = name[0];
    name.remove_prefix(character.bytes);
    if (character.is_whole && (bytes.size() > 1 || (c >= ' ' && c <= '~' && c != '\\'))) {
      if (c == '"') text += '\\';
      text += bytes;
      continue;
    }
    for (const char byte : bytes) {
      text.append("\\\\x") += kDigits[utf8::ByteOf(byte) >> 4U];
      text += kDigits[utf8::ByteOf(byte) & 15U];
    }
  }
  return text;
}

class MetricsText {
 public:
  MetricsText() {
    text_.exceptions(std::ios_base::badbit);
    text_.imbue(std::locale::classic());
    text_.precision(std::numeric_limits<double>::digits10);
  }

  void Comment(const std::string& text) { text_ << "# " << text << '\n'; }

  // Begins a metric; its samples follow.
  void Begin(const char* name, const char* type, const char* help) {
    name_ = name;
    text_ << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
  }

  template <typename Value>
  void Add(const std::vector<std::pair<const char*, std::string>>& labels, Value value) {
    text_ << name_ << '{';
    const char* comma = "";
    for (const auto& [label, name] : labels) {
      text_ << comma << label << "=\"" << LabelValue(name) << '"';
      comma = ",";
    }
    text_ << "} " << value << '\n';
  }

  std::string Text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  const char* name_ = "";
};

// Series of a level, of a family beside its levels, of what was counted, and of a budget.
constexpr std::size_t kOfLevel = 4;
constexpr std::size_t kOfFamily = 1;
constexpr std::size_t kCounted = 11;
constexpr std::size_t kOfBudget = 3;

std::size_t SeriesOf(const FamilyMetrics& family) {
  return kOfLevel * family.levels.size() + kOfFamily;
}

// The families that have series of their own, and the others in one.
std::map<std::string, FamilyMetrics> Bounded(const DatabaseMetrics& metrics, std::size_t* summed) {
  std::set<int> levels;
  std::size_t all = kCounted + kOfBudget * metrics.budgets.size() + 1;
  for (const auto& [name, family] : metrics.families) {
    all += SeriesOf(family);
    for (const auto& [level, unused] : family.levels) levels.insert(level);
  }
  *summed = 0;
  if (all <= kMostSeries) return metrics.families;
  std::size_t used = kCounted + kOfBudget * metrics.budgets.size() + 1 + kOfLevel * levels.size() +
                     kOfFamily;  // of the others
  std::map<std::string, FamilyMetrics> families;
  for (const auto& [name, family] : metrics.families) {
    const bool fits = *summed == 0 && used + SeriesOf(family) <= kMostSeries;
    if (fits) used += SeriesOf(family);
    if (!fits) ++*summed;
    families[fits ? name : kOthers].Add(family);
  }
  return families;
}

class FamiliesText {
 public:
  FamiliesText(const std::string& database, const std::map<std::string, FamilyMetrics>& families,
               MetricsText& text)
      : database_(database), families_(families), text_(text) {}

  // A metric with a sample for each level that has a value.
  template <typename ValueOf>
  void AddLevels(const char* name, const char* help, const ValueOf& value_of) {
    text_.Begin(name, "gauge", help);
    for (const auto& [family, metrics] : families_) {
      for (const auto& [level, numbers] : metrics.levels) {
        const auto value = value_of(numbers);
        if (!value) continue;
        text_.Add(
            {{"database", database_}, {"column_family", family}, {"level", std::to_string(level)}},
            *value);
      }
    }
  }

  void AddTablesWithoutFilter() {
    text_.Begin("exactbloom_tables_without_filter", "gauge",
                "Tables without a filter that works, so that every lookup in their range reads "
                "them.");
    for (const auto& [family, metrics] : families_) {
      if (!metrics.tables_without_filter) continue;
      text_.Add({{"database", database_}, {"column_family", family}},
                *metrics.tables_without_filter);
    }
  }

 private:
  const std::string& database_;
  const std::map<std::string, FamilyMetrics>& families_;
  MetricsText& text_;
};

void AddCounted(const std::string& database, const MeasuredReads& counted, MetricsText& text) {
  const std::pair<const char*, const FilterAnswers*> kinds[] = {
      {"keys", &counted.keys}, {"prefixes", &counted.prefixes}, {"seeks", &counted.seeks}};
  const auto add = [&](const char* name, const char* help, auto number) {
    text.Begin(name, "counter", help);
    for (const auto& [kind, answers] : kinds) {
      text.Add({{"database", database}, {"asked_for", kind}}, number(*answers));
    }
  };
  // A difference of counters that are read one after the other can fall, and Prometheus takes any
  // fall of a counter for a restart. So these are what RocksDB counts, or sums of it.
  add("exactbloom_filter_checked_total", "Tables whose filters were asked.",
      [](const FilterAnswers& answers) { return answers.denied + answers.passed; });
  add("exactbloom_filter_denied_total", "Of these, tables that were not read.",
      [](const FilterAnswers& answers) { return answers.denied; });
  add("exactbloom_filter_found_total", "Of these, tables that held what was sought.",
      [](const FilterAnswers& answers) { return answers.found; });
  text.Begin("exactbloom_lookups_total", "counter", "Keys that Get and MultiGet were asked for.");
  text.Add({{"database", database}}, counted.lookups);
  text.Begin("exactbloom_found_lookups_total", "counter", "Of the lookups, keys that were found.");
  text.Add({{"database", database}}, counted.found);
}

void AddBudgets(const DatabaseMetrics& metrics, MetricsText& text) {
  if (metrics.budgets.empty()) return;
  text.Begin("exactbloom_memory_budget_bound_bytes", "gauge",
             "The bound of a memory budget, of all its databases.");
  for (const auto& [name, use] : metrics.budgets) {
    if (use.bound_bytes != 0) text.Add({{"budget", name}}, use.bound_bytes);
  }
  text.Begin("exactbloom_memory_budget_used_bytes", "gauge",
             "Bytes that count in a memory budget, of all its databases.");
  for (const auto& [name, use] : metrics.budgets) text.Add({{"budget", name}}, use.used_bytes);
  text.Begin("exactbloom_memory_budget_index_bytes", "gauge",
             "Bytes of the index blocks of its tables, whether it covers them or not.");
  for (const auto& [name, use] : metrics.budgets) text.Add({{"budget", name}}, use.index_bytes);
}

}  // namespace

void LevelMetrics::Add(const LevelMetrics& other) {
  tables += other.tables;
  keys += other.keys;
  filter_bytes += other.filter_bytes;
  wasted_reads += other.wasted_reads;
}

void FamilyMetrics::Add(const FamilyMetrics& other) {
  for (const auto& [level, numbers] : other.levels) levels[level].Add(numbers);
  if (other.tables_without_filter) {
    tables_without_filter = tables_without_filter.value_or(0) + *other.tables_without_filter;
  }
}

std::string FormatMetrics(const DatabaseMetrics& metrics) {
  using Whole = std::optional<std::uint64_t>;
  using Real = std::optional<double>;
  MetricsText text;
  std::size_t summed = 0;
  const std::map<std::string, FamilyMetrics> families = Bounded(metrics, &summed);
  if (summed != 0) {
    text.Comment(std::to_string(summed) + " column families are summed as " + kOthers +
                 ": there are at most " + std::to_string(kMostSeries) + " series.");
  }
  FamiliesText levels(metrics.database, families, text);
  levels.AddLevels("exactbloom_tables", "Tables of a level.",
                   [](const LevelMetrics& level) { return Whole(level.tables); });
  levels.AddLevels("exactbloom_filter_bytes", "Bytes of the filters of a level.",
                   [](const LevelMetrics& level) { return Whole(level.filter_bytes); });
  levels.AddLevels("exactbloom_filter_bytes_per_key",
                   "Bytes of filters per key in them, an eighth of the bits.",
                   [](const LevelMetrics& level) {
                     return level.keys == 0 ? Real()
                                            : Real(static_cast<double>(level.filter_bytes) /
                                                   static_cast<double>(level.keys));
                   });
  levels.AddLevels("exactbloom_predicted_wasted_reads_per_lookup",
                   "Table reads that a lookup of an absent key wastes, as predicted.",
                   [](const LevelMetrics& level) { return Real(level.wasted_reads); });
  levels.AddTablesWithoutFilter();
  text.Begin("exactbloom_summed_column_families", "gauge",
             "Column families without series of their own.");
  text.Add({{"database", metrics.database}}, summed);
  if (metrics.counted) AddCounted(metrics.database, *metrics.counted, text);
  AddBudgets(metrics, text);
  return text.Text();
}

}  // namespace exactbloom
