#include "exactbloom/table_filters.h"

#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "block_description.h"
#include "files/table_file.h"
#include "files/table_filter_blocks.h"

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
  filter->index_bytes = number(TablePropertiesNames::kIndexSize);
  filter->range_deletes = number(TablePropertiesNames::kNumRangeDeletions);
  filter->filter_keys = number(TablePropertiesNames::kNumFilterEntries);
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

// RocksDB's Ribbon policy builds Bloom filters for partitions with few keys.
bool AreRibbonPartitions(FilterFamily one, FilterFamily other) {
  return (one == FilterFamily::kRibbon && other == FilterFamily::kBloom) ||
         (one == FilterFamily::kBloom && other == FilterFamily::kRibbon);
}

// Adds one more block to the description of the filter.
void AddBlock(const Slice& block, TableFilter* filter) {
  const FilterBlockDescription description = DescribeFilterBlock(block);
  const bool first = filter->blocks == 0;
  filter->blocks += 1;
  filter->bytes += block.size();
  if (description.family == FilterFamily::kEmpty && !first) return;
  if (first || filter->family == FilterFamily::kEmpty) {
    filter->family = description.family;
    filter->reason = description.reason;
    filter->min_probes = description.probes;
  } else if (AreRibbonPartitions(filter->family, description.family)) {
    filter->family = FilterFamily::kRibbon;
  } else if (filter->family != description.family) {
    return SetUnknown("partitions of several kinds", filter);
  }
  filter->min_probes = std::min(filter->min_probes, description.probes);
  filter->max_probes = std::max(filter->max_probes, description.probes);
  filter->ribbon_slots += description.ribbon_slots;
  filter->layout = description.ours.layout;
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
  status = files::VisitFilterBlocks(file, location, [&](const Slice& block) {
    AddBlock(block, filter);
    if (visit != nullptr) visit(block);
    return Status::OK();
  });
  if (status.ok() && filter->blocks != 0 && location.compatibility_name != kBuiltInName) {
    SetUnknown("a filter of the policy " + location.compatibility_name, filter);
  }
  return status;
}

// Whether the database still has the table.
bool IsLive(rocksdb::DB& db, std::uint64_t number) {
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  return std::any_of(tables.begin(), tables.end(),
                     [number](const auto& table) { return table.file_number == number; });
}

}  // namespace

const char* NameOf(FilterFamily family) {
  constexpr const char* kNames[] = {"none",   "exactbloom", "bloom",       "legacy bloom",
                                    "ribbon", "empty",      "block-based", "unknown"};
  return kNames[static_cast<std::size_t>(family)];
}

Status ReadTableFilter(rocksdb::FileSystem& file_system, const std::string& path,
                       TableFilter* filter, const std::function<void(Slice)>& visit) {
  *filter = TableFilter();
  filter->path = path;
  std::unique_ptr<TableFile> file;
  filter->status = TableFile::Open(file_system, path, &file);
  if (filter->status.ok()) filter->status = ReadFilter(*file, visit, filter);
  if (!filter->status.ok()) SetUnknown("the table cannot be read", filter);
  return filter->status;
}

std::vector<TableFilter> ListTableFilters(rocksdb::DB& db) {
  std::vector<TableFilter> filters;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) {
    TableFilter filter;
    const Status status = ReadTableFilter(*db.GetFileSystem(),
                                          table.directory + "/" + table.relative_filename, &filter);
    filter.column_family = table.column_family_name;
    filter.level = table.level;
    filter.number = table.file_number;
    if (!status.ok() && !IsLive(db, table.file_number)) continue;
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace exactbloom
