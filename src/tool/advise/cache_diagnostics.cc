// Filters that are not in memory when they are asked.
#include <fmt/format.h>

#include "diagnostics.h"

namespace exactbloom::tool {
namespace {

using rocksdb::PinningTier;

constexpr const char* kRemedy =
    "enlarge the block cache, pin filters (metadata_cache_options), or set "
    "cache_index_and_filter_blocks=false";

bool PinsAll(const rocksdb::BlockBasedTableOptions& options) {
  const auto& pinning = options.metadata_cache_options;
  return options.partition_filters ? pinning.partition_pinning == PinningTier::kAll
                                   : pinning.unpartitioned_pinning == PinningTier::kAll;
}

void CheckCapacity(const FamilyFindings& family, std::vector<Trap>* traps) {
  if (family.options == nullptr || family.options->table == nullptr || !family.block_cache_bytes) {
    return;
  }
  const rocksdb::BlockBasedTableOptions& options = *family.options->table;
  if (!options.cache_index_and_filter_blocks || PinsAll(options)) return;
  std::uint64_t filters = 0;
  std::uint64_t indexes = 0;
  for (const TableReport* table : family.tables) {
    filters += table->filter.bytes;
    indexes += table->filter.index_bytes;
  }
  if (filters + indexes <= *family.block_cache_bytes) return;
  traps->push_back({"block_cache_too_small",
                    fmt::format("cache_index_and_filter_blocks is set, and the block cache of {} "
                                "bytes is smaller than filters ({}) and indexes ({}): lookups read "
                                "filters again and again",
                                *family.block_cache_bytes, filters, indexes),
                    kRemedy});
}

void CheckMisses(const FamilyFindings& family, std::vector<Trap>* traps) {
  if (!family.counters) return;
  const std::uint64_t misses = family.counters->cache_misses;
  const std::uint64_t asked = family.counters->cache_hits + misses;
  // Each block is missed once, when it is read for the first time.
  std::uint64_t first_reads = 0;
  for (const TableReport* table : family.tables) first_reads += table->filter.blocks;
  if (misses <= first_reads ||
      static_cast<double>(misses) <= kManyFilterMisses * static_cast<double>(asked)) {
    return;
  }
  traps->push_back(
      {"filters_evicted",
       fmt::format("{} of {} lookups of a filter in the block cache did not find it "
                   "({:.1f}%)",
                   misses, asked, 100.0 * static_cast<double>(misses) / static_cast<double>(asked)),
       kRemedy});
}

}  // namespace

void FindCacheTraps(const FamilyFindings& family, std::vector<Trap>* traps) {
  CheckCapacity(family, traps);
  CheckMisses(family, traps);
}

}  // namespace exactbloom::tool
