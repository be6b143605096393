#include "wanted_filter.h"

#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "../allocation/allocation.h"
#include "../filter_bits_interface.h"
#include "../tree/current_table.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// RocksDB's Ribbon policy may build a Bloom filter for fewer keys than this, so a sample has as
// many keys as the table, up to this number.
constexpr std::uint64_t kSampleKeys = 2048;

// The same where sizes are compared. In a filter of so many keys, trailer and rounding to whole
// lines are below a thousandth.
constexpr std::uint64_t kSizeSampleKeys = 1 << 16;

constexpr double kOtherSize = 0.05;
constexpr double kOtherRoundedSize = 0.25;  // the greatest step between sizes of allocators

}  // namespace

Status WantedFilter::Create(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                            WantedFilter* wanted) {
  wanted->db_ = &db;
  wanted->options_ = db.GetOptions(&family);
  wanted->family_name_ = family.GetName();
  wanted->table_options_ =
      wanted->options_.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (wanted->table_options_ != nullptr) return Status::OK();
  return Status::NotSupported("exactbloom: tables are not block-based in the column family",
                              wanted->family_name_);
}

bool WantedFilter::IsLackedBy(const TableFilter& filter, bool bottommost) const {
  if (filter.entries == filter.range_deletes) return false;
  if (filter.family == FilterFamily::kEmpty && filter.filter_keys == 0) return false;
  const bool by_this_policy = table_options_->filter_policy != nullptr &&
                              filter.policy == table_options_->filter_policy->Name();
  // The policy may have found no key that has a prefix.
  if (filter.family == FilterFamily::kNone && by_this_policy &&
      !table_options_->whole_key_filtering) {
    return false;
  }
  const std::uint64_t keys = filter.filter_keys != 0 ? filter.filter_keys : filter.entries;
  const FilterBlockDescription wanted =
      Sample(filter.level, bottommost, keys, std::min(keys, kSampleKeys)).block;
  if (wanted.family == FilterFamily::kNone || wanted.family == FilterFamily::kUnknown) return false;
  if (wanted.family != filter.family) return true;
  return wanted.family == FilterFamily::kExactBloom && wanted.ours.layout != filter.layout;
}

bool WantedFilter::HasOtherSize(const TableFilter& filter, bool bottommost) const {
  if (filter.filter_keys == 0 || filter.bytes == 0) return false;
  const std::uint64_t keys =
      std::max<std::uint64_t>(1, filter.filter_keys / std::max<std::uint64_t>(1, filter.blocks));
  const SampleFilter wanted =
      Sample(filter.level, bottommost, filter.filter_keys, std::min(keys, kSizeSampleKeys));
  if (wanted.block.family != filter.family) return false;
  const double bytes_per_key =
      static_cast<double>(filter.bytes) / static_cast<double>(filter.filter_keys);
  const double tolerance =
      table_options_->optimize_filters_for_memory ? kOtherRoundedSize : kOtherSize;
  return std::abs(bytes_per_key - wanted.bytes_per_key) > tolerance * wanted.bytes_per_key;
}

WantedFilter::SampleFilter WantedFilter::Sample(int level, bool bottommost,
                                                std::uint64_t table_keys,
                                                std::uint64_t keys) const {
  SampleFilter none;
  none.block.family = FilterFamily::kNone;
  if (table_options_->filter_policy == nullptr) return none;
  if (options_.optimize_filters_for_hits && bottommost) return none;

  rocksdb::FilterBuildingContext context =
      CompactionContext(*table_options_, options_.num_levels, level, bottommost);
  context.compaction_style = options_.compaction_style;
  context.column_family_name = family_name_;
  const tree::TrialTable trial(*db_, family_name_, table_keys);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      table_options_->filter_policy->GetBuilderWithContext(context));
  if (builder == nullptr) return none;

  for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
  std::unique_ptr<const char[]> buffer;
  Status status;
  const Slice block = builder->Finish(&buffer, &status);
  return {DescribeFilterBlock(block),
          static_cast<double>(block.size()) / static_cast<double>(keys)};
}

}  // namespace exactbloom
