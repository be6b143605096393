#include "sized_table.h"

#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace exactbloom::tree {
namespace {

thread_local std::vector<TableInProgress> tables_in_progress;

// Null if the thread began none that fits.
TableInProgress* CurrentTable(const rocksdb::FilterBuildingContext& context) {
  if (tables_in_progress.empty()) return nullptr;
  TableInProgress& table = tables_in_progress.back();
  const bool fits = table.database != nullptr && context.column_family_name == table.family &&
                    (context.reason == rocksdb::TableFileCreationReason::kFlush ||
                     context.reason == rocksdb::TableFileCreationReason::kCompaction);
  return fits ? &table : nullptr;
}

// What is to be logged, in the order of the lines, once the lock is free.
struct Log {
  std::vector<std::string> lines;
  std::string warning;

  template <typename... Values>
  static std::string Format(const char* format, Values... values) {
    std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
    std::snprintf(text.data(), text.size() + 1, format, values...);
    return text;
  }

  void Write(rocksdb::Logger* info_log) const {
    for (const std::string& line : lines) rocksdb::Info(info_log, "exactbloom: %s", line.c_str());
    if (!warning.empty()) rocksdb::Warn(info_log, "exactbloom: %s", warning.c_str());
  }
};

void AddBudget(const FilterBudget& budget, bool is_spent, OpenDatabase& database, Log& log) {
  if (database.logged_bound != budget.set_at) {
    database.logged_bound = budget.set_at;
    log.lines.push_back(Log::Format(
        "memory budget '%s': the bound is %llu bytes, filters of %zu column families take %llu",
        budget.name.c_str(), static_cast<unsigned long long>(budget.bound), budget.families.size(),
        static_cast<unsigned long long>(budget.held)));
  }
  if (!is_spent || database.is_spent_logged) return;
  database.is_spent_logged = true;
  log.warning = Log::Format(
      "the filters take all of the memory budget '%s' of %llu bytes; new ones get less than one "
      "bit per key until compactions free some",
      budget.name.c_str(), static_cast<unsigned long long>(budget.bound));
}

void AddShare(const Share& share, int level, Family& family, Log& log) {
  constexpr double kLoggedChange = 0.1;  // of the bits per key
  if (share.planned.empty()) return;
  double& last = family.logged[level];
  if (last != 0.0 && std::abs(share.bits_per_key - last) <= kLoggedChange * last) return;
  last = share.bits_per_key;
  std::string runs;
  for (std::size_t i = 0; i < share.runs.size(); ++i) {
    runs +=
        Log::Format("%s%.0f x %.0f keys %.4g%s", i == 0 ? "" : ", ", share.runs[i].count,
                    share.runs[i].keys, share.planned[i], share.runs[i].ribbon ? " Ribbon" : "");
  }
  log.lines.push_back(Log::Format(
      "column family [%s]: %.4g bits per key in level %d; the plan, in bits per key: %s",
      family.name.c_str(), share.bits_per_key, level, runs.c_str()));
}

}  // namespace

void BeginTableInProgress(TableInProgress table) {
  std::vector<TableInProgress>& tables = tables_in_progress;
  // A thread runs one job at a time, so tables of another one were abandoned. Two listeners of a
  // database report the same table.
  if (!tables.empty() && (tables[0].job != table.job || tables[0].family != table.family)) {
    tables.clear();
  }
  EndTableInProgress(table.path);
  tables.push_back(std::move(table));
}

TableInProgress EndTableInProgress(const std::string& path) {
  std::vector<TableInProgress>& tables = tables_in_progress;
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const TableInProgress& table) { return table.path == path; });
  if (found == tables.end()) return {};
  TableInProgress table = std::move(*found);
  tables.erase(found);
  return table;
}

void ClaimTableInProgress(const rocksdb::FilterBuildingContext& context) {
  TableInProgress* const table = CurrentTable(context);
  if (table != nullptr) table->is_ours = true;
}

void SetPolicy(const SizingOptions& options, Family& family) {
  if (options.budget != nullptr && options.bound != 0) {
    options.budget->SetBound(options.bound, options.made_at);
  }
  family.Use(options.budget);
  family.ribbon = options.division.ribbon;
  family.bits_per_key = options.division.bits_per_key;
}

SizedTable::SizedTable(const SizingOptions& options, const TableInProgress& table, int level,
                       bool is_partitioned)
    : options_(options),
      database_(table.database),
      family_(table.family),
      job_(table.job),
      number_(NumberOf(table.path)),
      level_(level),
      is_partitioned_(is_partitioned) {}

std::unique_ptr<SizedTable> SizedTable::Begin(const SizingOptions& options,
                                              const rocksdb::FilterBuildingContext& context) {
  TableInProgress* const current = CurrentTable(context);
  if (current == nullptr) return nullptr;
  std::unique_ptr<SizedTable> table(new SizedTable(options, *current, context.level_at_creation,
                                                   context.table_options.partition_filters));
  Log log;
  {
    const auto lock = OpenDatabases::All().Lock();
    OpenDatabase& database = *table->database_;
    if (database.is_closed()) return nullptr;
    current->is_sized = true;
    Family& family = database.FindOrAdd(table->family_);
    SetPolicy(options, family);
    if (!database.is_loaded) return nullptr;
    database.BeginTable(table->family_, table->job_, table->number_, table->level_);
    const Share share = table->Decide(0);
    table->ribbon_ = share.ribbon;
    table->bits_per_key_ = share.bits_per_key;
    database.SetRibbon(table->number_, table->ribbon_);
    table->Reserve();
    if (options.budget != nullptr) AddBudget(*options.budget, share.is_budget_spent, database, log);
    AddShare(share, table->level_, family, log);
  }
  if (context.info_log != nullptr) log.Write(context.info_log);
  return table;
}

Share SizedTable::Decide(std::uint64_t keys) const {
  const TreeView view = database_->ViewOf(family_, job_, level_, keys);
  std::optional<BudgetView> budget;
  if (options_.budget != nullptr && options_.budget->bound != 0) {
    const Family* const family = database_->Find(family_);
    const std::uint64_t most_keys = keys != 0 ? keys : database_->MostKeysOf(family_, job_, level_);
    budget = BudgetView{static_cast<double>(options_.budget->bound),
                        static_cast<double>(options_.budget->held - reserved_),
                        family == nullptr ? std::vector<analysis::EqualRuns>()
                                          : options_.budget->RunsBeside(*family),
                        static_cast<double>(most_keys)};
  }
  return ShareOf(options_.division, view, budget);
}

// The sizes of Ribbon filters and partitions are decided before their keys are known. Counted only
// when they are finished, those of 16 jobs that decide at once reach 4.6 of a bound.
void SizedTable::Reserve() {
  if (options_.budget == nullptr || (!ribbon_ && !is_partitioned_)) return;
  const auto keys = static_cast<double>(database_->MostKeysOf(family_, job_, level_));
  reserved_ = static_cast<std::uint64_t>(bits_per_key_ * keys / 8.0);
  database_->SetFilterBytes(number_, reserved_);
}

double SizedTable::BitsPerKey(std::uint64_t keys) {
  if (is_partitioned_) return bits_per_key_;
  const auto lock = OpenDatabases::All().Lock();
  return database_->is_closed() ? bits_per_key_ : Decide(keys).bits_per_key;
}

bool SizedTable::Take(std::size_t bytes) {
  FilterBudget* const budget = options_.budget;
  if (budget == nullptr) return true;
  const auto lock = OpenDatabases::All().Lock();
  if (database_->is_closed()) return true;
  const std::uint64_t wanted = is_partitioned_ ? std::max(reserved_, taken_ + bytes) : bytes;
  const bool fits = wanted <= reserved_ || budget->bound == 0 ||
                    static_cast<double>(budget->held - reserved_ + wanted) <=
                        kFill * static_cast<double>(budget->bound);
  if (!fits) return false;
  taken_ += bytes;
  database_->SetFilterBytes(number_, wanted);
  reserved_ = wanted;
  return true;
}

}  // namespace exactbloom::tree
