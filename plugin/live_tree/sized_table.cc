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

template <typename... Values>
std::string Format(const char* format, Values... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
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

SizedTable::SizedTable(const SizingOptions& options, const TableInProgress& table,
                       const rocksdb::FilterBuildingContext& context)
    : options_(options),
      database_(table.database),
      job_(table.job),
      number_(ParseNumber(table.path)),
      level_(context.level_at_creation),
      is_partitioned_(context.table_options.partition_filters),
      is_fifo_(context.compaction_style == rocksdb::kCompactionStyleFIFO),
      info_log_(context.info_log) {}

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
  family->SetPolicy(options);
  if (!database.is_listed) return nullptr;
  family->StartTable(table->number_, table->job_, table->level_);
  table->family_ = family;
  table->reservation_.emplace(database.tables, table->number_);
  return table;
}

SizedTable::~SizedTable() {
  if (family_ == nullptr) return;
  const auto lock = database_->Lock();
  reservation_.reset();
  try {
    family_->Count();
  } catch (...) {
    database_->tables.MarkStale();
  }
}

std::optional<SizedTable::View> SizedTable::Look(std::uint64_t keys) const {
  if (family_ == nullptr) return std::nullopt;
  const auto lock = database_->Lock();
  if (family_->IsForgotten() || database_->is_closed) return std::nullopt;
  if (is_partitioned_) keys = std::max(taken_keys_ + keys, family_->FlushKeys());
  View view;
  view.tree = family_->For(job_, level_, keys, options_.division.ribbon);
  if (options_.budget == nullptr) return view;
  const auto budget_lock = Registry::Get().Lock();
  const Budget& budget = *options_.budget;
  if (budget.bound() == 0) return view;
  view.beside = budget.RunsBeside(*family_);
  view.budget = std::max(0.0, Real(budget.bound()) - Real(budget.IndexBytes()));
  return view;
}

double SizedTable::ExpectedBitsPerKey() const {
  const std::optional<View> view = Look(0);
  if (!view) return options_.division.bits_per_key;
  return Divide(options_.division, view->tree, view->beside, view->budget).bits_per_key;
}

double SizedTable::BitsPerKey(std::uint64_t keys) {
  taken_keys_ += std::exchange(keys_, keys);
  taken_.Add(std::exchange(amount_, TableSum()));
  const std::optional<View> view = Look(keys);
  if (!view) {
    const bool is_recovered = database_ == nullptr && !is_fifo_;
    return is_recovered ? BitsOfRecovered(options_.division.bits_per_key, Real(taken_keys_ + keys))
                        : options_.division.bits_per_key;
  }
  Share share = Divide(options_.division, view->tree, view->beside, view->budget);
  Log(share, Reserve(*view, keys, share));
  return share.bits_per_key;
}

SizedTable::News SizedTable::Reserve(const View& view, std::uint64_t keys, Share& share) {
  const auto lock = database_->Lock();
  const auto budget_lock = Registry::Get().Lock();
  const Budget* const budget = view.budget ? options_.budget : nullptr;
  if (budget != nullptr) {
    const double rest = is_partitioned_ ? view.tree.keys_to_write - Real(taken_keys_) : 0.0;
    const std::uint64_t counted =
        std::exchange(taken_.index_bytes,
                      static_cast<std::uint64_t>(view.tree.index_bytes_per_key *
                                                 (Real(taken_keys_) + std::max(Real(keys), rest))));
    const double index_bytes =
        budget->covers_indexes()
            ? Real(budget->IndexBytes()) - Real(counted) + Real(taken_.index_bytes)
            : 0.0;
    Limit(options_.division, view.tree,
          {Real(budget->bound()), index_bytes, Real(budget->held().filter_bytes),
           Real(budget->held().floor_bytes), Real(taken_.filter_bytes), std::max(Real(keys), rest)},
          share);
  }
  // With less than that there is no filter.
  const double given = share.bits_per_key < kMinBitsPerKey ? 0.0 : share.bits_per_key;
  const auto bits = static_cast<std::uint64_t>(given * Real(keys));
  amount_.filter_bits = bits;
  amount_.filter_bytes = bits / 8;
  amount_.floor_bytes = share.is_floor ? bits / 8 : 0;
  Count(options_.division.ribbon);
  News news;
  news.tells_share = NoteShare(share, family_->logged[level_]);
  if (budget == nullptr) return news;
  news.bound = budget->bound();
  news.families = budget->families().size();
  news.held = budget->held().filter_bytes;
  news.tells_bound = std::exchange(database_->logged_bound, budget->set_at()) != budget->set_at();
  bool& is_told =
      share.is_spent_by_inputs ? database_->are_inputs_logged : database_->is_spent_logged;
  news.tells_spent = share.is_budget_spent && !std::exchange(is_told, true);
  return news;
}

void SizedTable::Log(const Share& share, const News& news) const {
  if (info_log_ == nullptr) return;
  const auto bound = static_cast<unsigned long long>(news.bound);
  if (news.tells_bound) {
    rocksdb::Info(info_log_,
                  "exactbloom: memory budget '%s': the bound is %llu bytes, filters of %zu column "
                  "families take %llu",
                  options_.budget->name().c_str(), bound, news.families,
                  static_cast<unsigned long long>(news.held));
  }
  if (news.tells_share) {
    rocksdb::Info(info_log_,
                  "exactbloom: column family [%s]: level %d gets %.3g bits per key; plan: %s",
                  family_->name.c_str(), level_, share.bits_per_key, FormatPlan(share).c_str());
  }
  if (!news.tells_spent) return;
  rocksdb::Warn(info_log_,
                share.is_spent_by_inputs
                    ? "exactbloom: the inputs of a compaction hold the memory budget '%s' of %llu "
                      "bytes until it ends, so its tables get less than one bit per key; raise the "
                      "bound by SetMemoryBudget() while it runs, or compact once more"
                    : "exactbloom: the filters take all of the memory budget '%s' of %llu bytes; "
                      "new ones get less than one bit per key until compactions free some",
                options_.budget->name().c_str(), bound);
}

bool SizedTable::Take(std::size_t bytes, bool is_ribbon) {
  if (family_ == nullptr) return true;
  const auto lock = database_->Lock();
  const auto budget_lock = Registry::Get().Lock();
  const Budget* const budget = options_.budget;
  const auto held = [&] { return budget->held().filter_bytes + budget->IndexBytes(); };
  const bool fits = budget == nullptr || budget->bound() == 0 || bytes <= amount_.filter_bytes ||
                    amount_.floor_bytes != 0 ||
                    Real(held() - amount_.filter_bytes + bytes) <= kFill * Real(budget->bound());
  if (!fits) amount_ = TableSum();
  if (fits) amount_.filter_bytes = bytes;
  if (amount_.floor_bytes != 0) amount_.floor_bytes = bytes;
  Count(is_ribbon);
  reservation_->Keep();
  return fits;
}

void SizedTable::Count(bool is_ribbon) {
  TableSum all = taken_;
  all.Add(amount_);
  reservation_->Take(all, is_ribbon);
  if (family_->budget != nullptr) family_->budget->Count(*family_);
}

}  // namespace exactbloom::tree
