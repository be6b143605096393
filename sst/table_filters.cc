#include "table_filters.h"

#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <map>
#include <memory>

#include "block_description.h"
#include "table_file.h"
#include "table_filter_blocks.h"

namespace exactbloom {
namespace {

using files::FilterForm;
using files::FilterLocation;
using files::TableFile;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::TablePropertiesNames;

constexpr char kBuiltInName[] = "rocksdb.BuiltinBloomFilter";

Status ReadProperties(const TableFile& file, TableFilter* filter) {
  std::map<std::string, std::string> properties;
  Status status = file.ReadProperties(&properties);
  const auto number = [&properties](const std::string& name) {
    return TableFile::NumberIn(properties, name);
  };
  filter->column_family = properties[TablePropertiesNames::kColumnFamilyName];
  filter->policy = properties[TablePropertiesNames::kFilterPolicy];
  filter->entries = number(TablePropertiesNames::kNumEntries);
  filter->range_deletes = number(TablePropertiesNames::kNumRangeDeletions);
  filter->filter_keys = number(TablePropertiesNames::kNumFilterEntries);
  filter->index_bytes = number(TablePropertiesNames::kIndexSize);
  filter->data_blocks = number(TablePropertiesNames::kNumDataBlocks);
  // Older RocksDB does not write these properties, which means that they are on.
  const auto is_off = [&properties](const std::string& name) { return properties[name] == "0"; };
  filter->whole_key_filtering = !is_off(rocksdb::BlockBasedTablePropertyNames::kWholeKeyFiltering);
  filter->prefix_extractor = properties[TablePropertiesNames::kPrefixExtractorName];
  if (filter->prefix_extractor == "nullptr") filter->prefix_extractor.clear();
  filter->prefix_filtering = !filter->prefix_extractor.empty() &&
                             !is_off(rocksdb::BlockBasedTablePropertyNames::kPrefixFiltering);
  return status;
}

void SetUnknown(const std::string& reason, TableFilter* filter) {
  filter->family = FilterFamily::kUnknown;
  filter->reason = reason;
}

// Policies with Ribbon filters build Bloom filters for partitions with few keys. Returns kUnknown
// for partitions that no policy has side by side.
FilterFamily FamilyOfPartitions(FilterFamily one, FilterFamily other) {
  const auto are = [&](FilterFamily ribbon, FilterFamily bloom) {
    return (one == ribbon && other == bloom) || (one == bloom && other == ribbon);
  };
  if (one == other) return one;
  if (are(FilterFamily::kRibbon, FilterFamily::kBloom)) return FilterFamily::kRibbon;
  if (are(FilterFamily::kExactRibbon, FilterFamily::kExactBloom)) return FilterFamily::kExactRibbon;
  return FilterFamily::kUnknown;
}

// Adds one more block to the description of the filter.
void AddBlock(const Slice& block, TableFilter* filter) {
  const FilterBlockDescription description = DescribeFilterBlock(block);
  filter->blocks += 1;
  filter->bytes += block.size();
  if (filter->partitioned && block.empty()) filter->empty_partitions += 1;
  if (description.family == FilterFamily::kEmpty) return;
  if (filter->family == FilterFamily::kEmpty) {
    filter->family = description.family;
    filter->reason = description.reason;
    filter->min_probes = description.probes;
  } else {
    if (filter->family == FilterFamily::kUnknown) return;  // for its first reason
    filter->family = FamilyOfPartitions(filter->family, description.family);
    if (filter->family == FilterFamily::kUnknown) {
      const bool is_known = description.family != FilterFamily::kUnknown;
      return SetUnknown(is_known ? "partitions of several kinds" : description.reason, filter);
    }
  }
  filter->min_probes = std::min(filter->min_probes, description.probes);
  filter->max_probes = std::max(filter->max_probes, description.probes);
  filter->ribbon_slots += description.ribbon_slots;
  filter->kind = ToBloomKind(description.ours.kind);
  filter->hash_seed = description.ours.hash_seed;
  filter->bits += description.ours.bits;
  filter->keys += description.ours.keys;
  filter->format_version = description.format_version;
}

using BlockVisitor = std::function<void(Slice)>;

Status ReadFilter(const TableFile& file, const BlockVisitor& visit, TableFilter* filter) {
  filter->file_bytes = file.FileBytes();
  Status status = ReadProperties(file, filter);
  if (!status.ok()) return status;
  const FilterLocation location = files::FindFilter(file);
  filter->compatibility_name = location.compatibility_name;
  filter->partitioned = location.form == FilterForm::kPartitioned;
  filter->family = location.form == FilterForm::kNone         ? FilterFamily::kNone
                   : location.form == FilterForm::kBlockBased ? FilterFamily::kBlockBased
                                                              : FilterFamily::kEmpty;
  files::FilterBlockList blocks;
  status = blocks.Open(file, location);
  while (status.ok() && !blocks.AtEnd()) {
    files::IndexEntry block;
    files::BlockContents contents;
    status = blocks.Next(&block);
    if (status.ok()) status = blocks.Read(block, &contents);
    if (!status.ok()) break;
    AddBlock(contents.Bytes(), filter);
    if (visit != nullptr) visit(contents.Bytes());
  }
  const bool has_keys = filter->blocks != 0 && filter->family != FilterFamily::kEmpty;
  // RocksDB before 6.21 did not count them.
  if (has_keys && filter->filter_keys == 0) filter->filter_keys = filter->PointEntries();
  if (status.ok() && filter->blocks != 0 && location.compatibility_name != kBuiltInName) {
    SetUnknown("a filter of the policy " + location.compatibility_name, filter);
  }
  return status;
}

}  // namespace

const char* NameOf(FilterFamily family) {
  constexpr const char* kNames[] = {"none",  "exact_bloom",  "exact_ribbon",
                                    "bloom", "legacy_bloom", "ribbon",
                                    "empty", "block_based",  "unknown"};
  return kNames[static_cast<std::size_t>(family)];
}

Status ReadTableFilter(rocksdb::FileSystem& file_system, const std::string& path,
                       TableFilter* filter, const std::function<void(Slice)>& visit) {
  *filter = TableFilter();
  std::unique_ptr<TableFile> file;
  filter->status = TableFile::Open(file_system, path, &file);
  if (filter->status.ok()) filter->status = ReadFilter(*file, visit, filter);
  if (!filter->status.ok()) SetUnknown("the table cannot be read", filter);
  return filter->status;
}

}  // namespace exactbloom
