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

// Has no destructor: those of static objects may write tables when the list is gone.
thread_local bool has_ended = false;
struct TablesInProgress {
  TablesInProgress() = default;
  ~TablesInProgress() { has_ended = true; }
  TablesInProgress(const TablesInProgress&) = delete;
  TablesInProgress& operator=(const TablesInProgress&) = delete;

  std::vector<TableInProgress> list;
};
thread_local TablesInProgress tables_in_progress;

// Returns null if the thread began none that fits.
TableInProgress* CurrentTable(const rocksdb::FilterBuildingContext& context) {
  if (has_ended || tables_in_progress.list.empty()) return nullptr;
  TableInProgress& table = tables_in_progress.list.back();
  const bool fits = table.database != nullptr && context.column_family_name == table.family &&
                    (context.reason == rocksdb::TableFileCreationReason::kFlush ||
                     context.reason == rocksdb::TableFileCreationReason::kCompaction);
  return fits ? &table : nullptr;
}

template <typename... Values>
std::string Format(const char* format, Values... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

unsigned long long Long(std::uint64_t number) { return number; }  // for Format

TableSum Sum(TableSum one, const TableSum& other) {
  one.Add(other);
  return one;
}

// "6 runs of 8994 keys: 12.2 bits, Ribbon; 1 run of ...".
std::string FormatPlan(const Share& share) {
  std::string plan;
  for (std::size_t i = 0; i < share.runs.size(); ++i) {
    const auto& [keys, count, ribbon] = share.runs[i];
    plan += Format("%s%.0f run%s of %.0f keys: ", i == 0 ? "" : "; ", count,
                   count == 1.0 ? "" : "s", keys);
    plan += share.planned[i] < kMinBitsPerKey
                ? "no filter"
                : Format("%.3g bits, %s", share.planned[i], ribbon ? "Ribbon" : "Bloom");
  }
  return plan;
}

// Returns whether the level's share has changed by more than a tenth.
bool NoteShare(const Share& share, double& last) {
  constexpr double kLoggedChange = 0.1;
  if (share.planned.empty()) return false;
  if (last != 0.0 && std::abs(share.bits_per_key - last) <= kLoggedChange * last) return false;
  last = share.bits_per_key;
  return true;
}

}  // namespace

void BeginTableInProgress(TableInProgress table) {
  if (has_ended) return;
  std::vector<TableInProgress>& tables = tables_in_progress.list;
  // A thread runs one job at a time, so tables of another one were abandoned. Two listeners of a
  // database report the same table.
  if (!tables.empty() && (tables[0].job != table.job || tables[0].family != table.family)) {
    tables.clear();
  }
  EndTableInProgress(table.path);
  tables.push_back(std::move(table));
}

TableInProgress EndTableInProgress(const std::string& path) {
  if (has_ended) return {};
  std::vector<TableInProgress>& tables = tables_in_progress.list;
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

SizedTable::SizedTable(const SizingOptions& options, const TableInProgress& table,
                       const rocksdb::FilterBuildingContext& context)
    : options_(options),
      database_(table.database),
      job_(table.job),
      number_(ParseNumber(table.path)),
      level_(context.level_at_creation),
      is_partitioned_(context.table_options.partition_filters),
      is_fifo_(context.compaction_style == rocksdb::kCompactionStyleFIFO),
      info_log_(context.info_log),
      is_ribbon_(options.division.ribbon) {}

std::unique_ptr<SizedTable> SizedTable::Begin(const SizingOptions& options,
                                              const rocksdb::FilterBuildingContext& context) {
  if (context.reason == rocksdb::TableFileCreationReason::kRecovery) {
    return std::unique_ptr<SizedTable>(new SizedTable(options, {}, context));
  }
  TableInProgress* const current = CurrentTable(context);
  if (current == nullptr) return nullptr;
  std::unique_ptr<SizedTable> table(new SizedTable(options, *current, context));
  Database& database = *table->database_;
  const auto lock = database.Lock();
  if (database.is_closed) return nullptr;
  current->is_sized = true;
  const auto family = database.FindOrAdd(current->family);
  family->SetPolicyOf(table->job_, options);
  if (!database.is_listed) return nullptr;
  family->StartTable(table->number_, table->job_, table->level_);
  table->family_ = family;
  return table;
}

SizedTable::~SizedTable() {
  if (family_ == nullptr || is_kept_) return;
  const auto lock = database_->Lock();
  const auto budget_lock = Registry::Get().Lock();
  try {
    Count(taken_);
  } catch (...) {
    database_->tables.MarkStale();
  }
}

const Budget* SizedTable::Bounding() const {
  const Budget* const budget = options_.budget;
  return budget != nullptr && budget->setting().bound != 0 ? budget : nullptr;
}

// Partitions that are expected share a plan: it is made anew when the table has more keys, which is
// worth 7% of the bits in a flush of ten times as many keys as usual.
void SizedTable::Plan(std::uint64_t keys) {
  if (is_partitioned_) keys = std::max(taken_keys_ + keys, family_->FlushKeys());
  if (share_ && Real(keys) <= view_.keys_to_write) return;
  view_ = family_->For(job_, level_, keys);
  const Budget* const budget = Bounding();
  if (budget == nullptr) {
    share_ = Divide(options_.division, view_);
    return;
  }
  const double bound = Real(budget->setting().bound);
  const double left = bound - Real(budget->CoveredIndexBytes());
  share_ = Divide(options_.division, view_, budget->RunsBeside(*family_),
                  std::max(left, kFloors * bound));
}

// Limits the share of a filter of so many keys to what the budget leaves.
void SizedTable::Limit(std::uint64_t keys, Share& share) {
  const double rest = is_partitioned_ ? view_.keys_to_write - Real(taken_keys_) : 0.0;
  const double keys_to_write = std::max(Real(keys), rest);
  const double index_bytes = view_.index_bytes_per_key * (Real(taken_keys_) + keys_to_write);
  const double counted =
      Real(std::exchange(taken_.index_bytes, static_cast<std::uint64_t>(index_bytes)));
  const Budget* const budget = Bounding();
  if (budget == nullptr) return;
  const double covered =
      budget->CoversIndexes() ? Real(budget->CoveredIndexBytes()) - counted + index_bytes : 0.0;
  tree::Limit(options_.division, view_,
              {Real(budget->setting().bound), covered, Real(budget->held().filter_bytes),
               Real(budget->held().floor_bytes), Real(taken_.filter_bytes), keys_to_write},
              share);
}

void SizedTable::Count(const TableSum& amount) {
  database_->tables.Reserve(number_, amount, is_ribbon_);
  if (family_->budget != nullptr) family_->budget->Count(*family_, /*has_other_runs=*/false);
}

double SizedTable::ExpectedBitsPerKey() {
  const double average = options_.division.bits_per_key;
  if (family_ == nullptr) return average;
  const auto lock = database_->Lock();
  const auto budget_lock = Registry::Get().Lock();
  if (family_->IsForgotten() || database_->is_closed) return average;
  // One key stands for a run that is known, when its keys are not.
  Plan(level_ == 0 ? 0 : 1);
  const double expected = share_->bits_per_key;
  // A table that has all its keys is planned anew: others have begun or ended meanwhile.
  if (!is_partitioned_) share_.reset();
  return expected;
}

double SizedTable::BitsPerKey(std::uint64_t keys, double at_most) {
  taken_keys_ += std::exchange(keys_, keys);
  taken_.Add(std::exchange(amount_, TableSum()));
  const double average = options_.division.bits_per_key;
  if (family_ == nullptr) {
    return is_fifo_ ? average : BitsOfRecovered(average, Real(taken_keys_ + keys));
  }
  Share share;
  News news;
  {
    const auto lock = database_->Lock();
    const auto budget_lock = Registry::Get().Lock();
    if (family_->IsForgotten() || database_->is_closed) return average;
    Plan(keys);
    share = *share_;
    if (level_ > 0 && !is_partitioned_) share.bits_per_key = std::min(share.bits_per_key, at_most);
    Limit(keys, share);
    // With less than that there is no filter.
    const double given = share.bits_per_key < kMinBitsPerKey ? 0.0 : share.bits_per_key;
    amount_.filter_bits = planned_bits_ = static_cast<std::uint64_t>(given * Real(keys));
    amount_.filter_bytes = amount_.filter_bits / 8;
    amount_.floor_bytes = share.is_floor ? amount_.filter_bytes : 0;
    is_kept_ = false;
    Count(Sum(taken_, amount_));
    news = Tell(share);
  }
  for (const auto& [level, text] : news)
    rocksdb::Log(level, info_log_, "exactbloom: %s", text.c_str());
  return share.bits_per_key;
}

SizedTable::News SizedTable::Tell(const Share& share) {
  News news;
  if (info_log_ == nullptr) return news;
  const Budget* const budget = Bounding();
  if (budget != nullptr) {
    const std::uint64_t bound = budget->setting().bound;
    const std::uint64_t made_at = budget->setting().made_at;
    if (std::exchange(database_->logged_bound, made_at) != made_at) {
      news.emplace_back(
          rocksdb::InfoLogLevel::INFO_LEVEL,
          Format("memory budget '%s': the bound is %llu bytes, filters%s of %zu column "
                 "families take %llu",
                 budget->name().c_str(), Long(bound), budget->CoversIndexes() ? " and indexes" : "",
                 budget->families().size(), Long(budget->Used())));
    }
    bool& is_told =
        share.is_spent_by_inputs ? database_->are_inputs_logged : database_->is_spent_logged;
    if (share.is_budget_spent && !std::exchange(is_told, true)) {
      news.emplace_back(
          rocksdb::InfoLogLevel::WARN_LEVEL,
          Format(share.is_spent_by_inputs
                     ? "the inputs of a compaction hold the memory budget '%s' of %llu "
                       "bytes until it ends, so its tables get less than one bit per key; raise "
                       "the bound by SetMemoryBudget() while it runs, or compact once more"
                     : "the filters take all of the memory budget '%s' of %llu bytes; "
                       "new ones get less than one bit per key until compactions free some",
                 budget->name().c_str(), Long(bound)));
    }
  }
  if (NoteShare(share, family_->logged[level_])) {
    news.emplace_back(
        rocksdb::InfoLogLevel::INFO_LEVEL,
        Format("column family [%s]: level %d gets %.3g bits per key; "
               "plan: %s",
               family_->name.c_str(), level_, share.bits_per_key, FormatPlan(share).c_str()));
  }
  return news;
}

bool SizedTable::Take(std::size_t bytes, bool is_ribbon) {
  if (family_ == nullptr) return true;
  const auto lock = database_->Lock();
  const auto budget_lock = Registry::Get().Lock();
  const Budget* const budget = Bounding();
  const bool fits =
      budget == nullptr || bytes <= amount_.filter_bytes || amount_.floor_bytes != 0 ||
      Real(budget->Used() - amount_.filter_bytes + bytes) <= kFill * Real(budget->setting().bound);
  if (!fits) amount_ = TableSum();
  if (fits) {
    amount_.filter_bits = planned_bits_;  // which an earlier refusal has taken away
    amount_.filter_bytes = bytes;
  }
  if (amount_.floor_bytes != 0) amount_.floor_bytes = bytes;
  is_ribbon_ = is_ribbon;
  is_kept_ = true;
  Count(Sum(taken_, amount_));
  return fits;
}

}  // namespace exactbloom::tree
