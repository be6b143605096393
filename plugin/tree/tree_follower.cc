#include "tree_follower.h"

#include <atomic>
#include <cmath>
#include <cstdio>

namespace exactbloom::tree {
namespace {

TreeCensus::OwnerId NewOwnerId() {
  static std::atomic<TreeCensus::OwnerId> next{TreeCensus::kOtherOwner + 1};
  return next++;
}

}  // namespace

TreeFollower::TreeFollower(const DivisionOptions& options)
    : options_(options), division_(options), id_(NewOwnerId()) {
  if (options_.memory_budget != 0) need_.emplace();
}

std::optional<TreeFollower::Table> TreeFollower::Begin(
    const rocksdb::FilterBuildingContext& context) const {
  TableInMaking* const current = CurrentTable(context);
  if (current == nullptr) return std::nullopt;
  if (!current->has_owner) {
    current->has_owner = true;
    current->level = context.level_at_creation;
    current->census->SetOwner(current->family, id_);
    const std::lock_guard<std::mutex> lock(mutex_);
    censuses_[current->census.get()] = current->census;
  }
  if (!current->census->HasLooked()) return std::nullopt;
  Table table;
  table.follower_ = this;
  table.census_ = current->census;
  table.family_ = current->family;
  table.job_ = current->job;
  table.level_ = context.level_at_creation;
  table.info_log_ = context.info_log;
  return table;
}

double TreeFollower::Table::BitsPerKey(std::uint64_t keys) const {
  return follower_->BitsPerKeyOf(*this, keys);
}

double TreeFollower::BitsPerKeyOf(const Table& table, std::uint64_t keys) const {
  std::optional<TreeView> view = table.census_->View(table.family_, table.job_, table.level_);
  // Another look failed meanwhile.
  if (!view) return options_.bits_per_key;
  if (options_.memory_budget != 0) AddOtherDatabases(*table.census_, *view);
  const TableShare share = division_.Share(*view, static_cast<double>(keys));
  Announce(table, share);
  return share.bits_per_key;
}

void TreeFollower::AddOtherDatabases(const TreeCensus& own, TreeView& view) const {
  std::vector<std::shared_ptr<TreeCensus>> others;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto known = censuses_.begin(); known != censuses_.end();) {
      std::shared_ptr<TreeCensus> census = known->second.lock();
      known = census == nullptr ? censuses_.erase(known) : std::next(known);
      if (census != nullptr && census.get() != &own) others.push_back(std::move(census));
    }
  }
  for (const auto& census : others) {
    const TreeCensus::Total total = census->TotalOf(id_);
    view.shared_keys += total.keys;
    view.shared_filter_bytes += total.filter_bytes;
  }
}

void TreeFollower::Announce(const Table& table, const TableShare& share) const {
  constexpr double kNoticed = 0.1;  // a change of bits per key by this part
  if (table.info_log_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (share.is_over_budget && !announced_budget_) {
    announced_budget_ = true;
    rocksdb::Warn(table.info_log_,
                  "exactbloom: column family [%s]: the filters take all of memory_budget=%llu "
                  "bytes; new ones get %g bits per key until compaction or rebuilding frees some",
                  table.family_.c_str(), static_cast<unsigned long long>(options_.memory_budget),
                  kLeastBitsPerKey);
  }
  if (share.planned.empty()) return;
  double& last = announced_[{table.info_log_, table.family_}][table.level_];
  const double change = std::abs(share.bits_per_key - last);
  if (last != 0.0 && change <= kNoticed * last) return;
  last = share.bits_per_key;
  std::string runs;
  for (std::size_t i = 0; i < share.runs.size(); ++i) {
    char text[96];
    std::snprintf(text, sizeof text, "%s%.0f x %.0f keys %.4g", i == 0 ? "" : ", ",
                  share.runs[i].count, share.runs[i].keys, share.planned[i]);
    runs += text;
  }
  rocksdb::Info(table.info_log_,
                "exactbloom: column family [%s]: %.4g bits per key in level %d; the plan, in bits "
                "per key: %s",
                table.family_.c_str(), share.bits_per_key, table.level_, runs.c_str());
}

}  // namespace exactbloom::tree
