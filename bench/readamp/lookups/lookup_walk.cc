#include "lookup_walk.h"

#include <algorithm>
#include <string>
#include <vector>

namespace exactbloom::readamp {
namespace {

// The block of the table's filter that answers for `key`; as in RocksDB, the last one for keys
// beyond all partitions.
const TableFilterBlock* BlockOf(const Table& table, const std::string& key) {
  const auto& blocks = table.filter_blocks;
  if (blocks.size() == 1) return &blocks.front();
  const auto found = std::lower_bound(blocks.begin(), blocks.end(), key,
                                      [](const TableFilterBlock& block, const std::string& wanted) {
                                        return block.last_key < wanted;
                                      });
  return found != blocks.end() ? &*found : &blocks.back();
}

class Walk {
 public:
  Walk(const TableList& tables, const KeySet& keys) : tables_(tables), keys_(keys) {}

  void LookUp(std::size_t i, std::uint64_t times) {
    const std::string key = keys_.Key(i);
    const int holder = tables_.SortedRunOf(keys_, i);
    for (int run = 0; run < tables_.SortedRuns(); ++run) {
      const Table* table = tables_.Find(run, key);
      if (table != nullptr) Ask(*table, key, run == holder, times);
      if (run == holder) break;
    }
  }

  void Scan(const std::string& prefix, std::uint64_t times) {
    const KeySet::Range range = keys_.StoredWithPrefix(prefix);
    std::vector<bool> holds(static_cast<std::size_t>(tables_.SortedRuns()), false);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      holds[static_cast<std::size_t>(tables_.SortedRunOf(keys_, keys_.stored_in_order[i]))] = true;
    }
    for (int run = 0; run < tables_.SortedRuns(); ++run) {
      const Table* table = tables_.FindFrom(run, prefix);
      if (table != nullptr) {
        Ask(*table, prefix, holds[static_cast<std::size_t>(run)], times);
      } else if (table = tables_.Level0File(run); table != nullptr && table->HasFilter()) {
        Ask(*table, prefix, false, times);
        counts_.beyond += times;
      }
    }
  }

  LookupCounts Counts() && { return std::move(counts_); }

 private:
  void Ask(const Table& table, const std::string& key, bool holds, std::uint64_t times) {
    if (!table.HasFilter()) {
      if (!holds) counts_.unfiltered += times;
    } else if (holds) {
      counts_.present += times;
    } else {
      LookupCounts::Checks& checks = counts_.absent[BlockOf(table, key)];
      checks.count += times;
      checks.squares += times * times;
    }
  }

  const TableList& tables_;
  const KeySet& keys_;
  LookupCounts counts_;
};

}  // namespace

LookupCounts WalkLookups(const Database& database, const Workload& workload) {
  const KeySet& keys = database.Keys();
  std::vector<std::size_t> order = workload.order;
  std::sort(order.begin(), order.end());
  Walk walk(database.Tables(), keys);
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::upper_bound(first, order.end(), *first);
    const auto times = static_cast<std::uint64_t>(last - first);
    if (workload.kind == LookupKind::kPrefixScan) {
      walk.Scan(keys.Key(*first).substr(0, database.Settings().prefix_bytes), times);
    } else {
      walk.LookUp(*first, times);
    }
    first = last;
  }
  return std::move(walk).Counts();
}

}  // namespace exactbloom::readamp
