#include "sized_table.h"

#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "listing.h"

namespace exactbloom::tree {
namespace {

thread_local std::vector<TableInProgress> tables_in_progress;

// Returns null if the thread began none that fits.
TableInProgress* CurrentTable(const rocksdb::FilterBuildingContext& context) {
  if (tables_in_progress.empty()) return nullptr;
  TableInProgress& table = tables_in_progress.back();
  const bool fits = table.database != nullptr && context.column_family_name == table.family &&
                    (context.reason == rocksdb::TableFileCreationReason::kFlush ||
                     context.reason == rocksdb::TableFileCreationReason::kCompaction);
  return fits ? &table : nullptr;
}

// Collects what is logged once the lock is free.
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

void AddBudget(const Budget& budget, const Share& share, Database& database, Log& log) {
  const auto bound = static_cast<unsigned long long>(budget.bound());
  if (database.logged_bound != budget.set_at()) {
    database.logged_bound = budget.set_at();
    log.lines.push_back(Log::Format(
        "memory budget '%s': the bound is %llu bytes, filters of %zu column families take %llu",
        budget.name().c_str(), bound, budget.families().size(),
        static_cast<unsigned long long>(budget.held().all)));
  }
  bool& is_logged =
      share.is_spent_by_inputs ? database.are_inputs_logged : database.is_spent_logged;
  if (!share.is_budget_spent || std::exchange(is_logged, true)) return;
  log.warning = Log::Format(
      share.is_spent_by_inputs
          ? "the inputs of a compaction hold the memory budget '%s' of %llu bytes until it ends, "
            "so its tables get less than one bit per key; raise the bound by SetMemoryBudget() "
            "while it runs, or compact once more"
          : "the filters take all of the memory budget '%s' of %llu bytes; new ones get less than "
            "one bit per key until compactions free some",
      budget.name().c_str(), bound);
}

// "8,994".
std::string WithCommas(double whole) {
  constexpr std::size_t kGroup = 3;
  const std::string digits = Log::Format("%.0f", whole);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % kGroup == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// "6 runs of 8,994 keys: 12.2 bits, Ribbon".
std::string FormatRuns(const analysis::EqualRuns& runs, double bits_per_key) {
  const char* const kind = runs.ribbon ? "Ribbon" : "Bloom";
  return WithCommas(runs.count) + (runs.count == 1.0 ? " run of " : " runs of ") +
         WithCommas(runs.keys) + " keys: " +
         (bits_per_key < kMinBitsPerKey ? "no filter"
                                        : Log::Format("%.3g bits, %s", bits_per_key, kind));
}

void AddShare(const Share& share, int level, Family& family, Log& log) {
  constexpr double kLoggedChange = 0.1;  // of the bits per key
  if (share.planned.empty()) return;
  double& last = family.logged[level];
  if (last != 0.0 && std::abs(share.bits_per_key - last) <= kLoggedChange * last) return;
  last = share.bits_per_key;
  std::string runs;
  for (std::size_t i = 0; i < share.runs.size(); ++i) {
    runs += (i == 0 ? "" : "; ") + FormatRuns(share.runs[i], share.planned[i]);
  }
  log.lines.push_back(Log::Format("column family [%s]: level %d gets %.3g bits per key; plan: %s",
                                  family.name.c_str(), level, share.bits_per_key, runs.c_str()));
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
  family.ribbon = options.division.ribbon;
  family.bits_per_key = options.division.bits_per_key;
  // A job of another family may have listed the tables before.
  if (!std::exchange(family.has_policy, true)) family.tree.Assume(family.bits_per_key);
  family.Use(options.budget);
}

SizedTable::SizedTable(const SizingOptions& options, const TableInProgress& table,
                       const rocksdb::FilterBuildingContext& context)
    : options_(options),
      database_(table.database),
      family_(table.family),
      job_(table.job),
      number_(ParseNumber(table.path)),
      level_(context.level_at_creation),
      is_partitioned_(context.table_options.partition_filters),
      info_log_(context.info_log) {}

std::unique_ptr<SizedTable> SizedTable::Begin(const SizingOptions& options,
                                              const rocksdb::FilterBuildingContext& context) {
  TableInProgress* const current = CurrentTable(context);
  if (current == nullptr) return nullptr;
  std::unique_ptr<SizedTable> table(new SizedTable(options, *current, context));
  const auto lock = Registry::Get().Lock();
  Database& database = *table->database_;
  if (database.is_closed) return nullptr;
  current->is_sized = true;
  Family& family = database.FindOrAdd(table->family_);
  SetPolicy(options, family);
  if (!database.is_listed) return nullptr;
  database.owners[table->number_] = family.weak_from_this();
  family.tree.StartTable(table->number_, table->job_);
  return table;
}

Family* SizedTable::FindFamily() const { return database_->Find(family_); }

Share SizedTable::Decide(const Family& family, std::uint64_t keys) const {
  std::uint64_t table_keys = keys;
  if (is_partitioned_) table_keys = std::max(taken_keys_ + keys, family.tree.FlushKeys());
  const TreeView view = family.tree.For(job_, level_, table_keys, options_.division);
  std::optional<BudgetView> budget;
  if (options_.budget != nullptr && options_.budget->bound() != 0) {
    const double rest = is_partitioned_ ? view.keys_to_write - Real(taken_keys_) : 0.0;
    budget = BudgetView{Real(options_.budget->bound()),
                        Real(options_.budget->held().all),
                        Real(options_.budget->held().of_floors),
                        options_.budget->RunsBeside(family),
                        std::max(Real(keys), rest),
                        Real(taken_bytes_)};
  }
  return Divide(options_.division, view, budget);
}

double SizedTable::ExpectedBitsPerKey() const {
  const auto lock = Registry::Get().Lock();
  const Family* const family = FindFamily();
  return family == nullptr ? options_.division.bits_per_key : Decide(*family, 0).bits_per_key;
}

double SizedTable::BitsPerKey(std::uint64_t keys) {
  Log log;
  Share share;
  {
    const auto lock = Registry::Get().Lock();
    Family* const family = FindFamily();
    if (family == nullptr) return options_.division.bits_per_key;
    taken_keys_ += std::exchange(keys_, keys);
    taken_bytes_ += std::exchange(bytes_, 0);
    share = Decide(*family, keys);
    share.bits_per_key = std::clamp(share.bits_per_key + Correction(share.bits_per_key, keys), 0.0,
                                    share.most_bits_per_key);
    is_floor_ = share.is_floor;
    // With less than that there is no filter.
    const double counted = share.bits_per_key < kMinBitsPerKey ? 0.0 : share.bits_per_key;
    Count(*family, static_cast<std::uint64_t>(counted * Real(keys) / 8.0),
          options_.division.ribbon);
    if (options_.budget != nullptr) {
      AddBudget(*options_.budget, share, *database_, log);
    }
    AddShare(share, level_, *family, log);
  }
  if (info_log_ != nullptr) log.Write(info_log_);
  return share.bits_per_key;
}

double SizedTable::Correction(double bits_per_key, std::uint64_t keys) const {
  constexpr double kMost = 1.0;
  constexpr double kPartOfTaken = 0.25;
  const double missing = bits_per_key * Real(taken_keys_) - 8.0 * Real(taken_bytes_);
  return std::clamp(missing / std::max(Real(keys), kPartOfTaken * Real(taken_keys_)), -kMost,
                    kMost);
}

bool SizedTable::Take(std::size_t bytes, bool is_ribbon) {
  const auto lock = Registry::Get().Lock();
  Family* const family = FindFamily();
  if (family == nullptr) return true;
  const Budget* const budget = options_.budget;
  const bool fits = budget == nullptr || budget->bound() == 0 || bytes <= bytes_ || is_floor_ ||
                    Real(budget->held().all - bytes_ + bytes) <= kFill * Real(budget->bound());
  Count(*family, fits ? bytes : 0, is_ribbon);
  return fits;
}

void SizedTable::Count(Family& family, std::uint64_t bytes, bool is_ribbon) {
  bytes_ = bytes;
  family.tree.SetFilter(number_, taken_bytes_ + bytes_, is_ribbon, is_floor_);
  if (family.budget != nullptr) family.budget->Recount(family);
}

}  // namespace exactbloom::tree
