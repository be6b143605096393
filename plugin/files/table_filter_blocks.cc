#include "table_filter_blocks.h"

#include <rocksdb/table_properties.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

Status ListPartitions(const TableFile& file, const FilterLocation& filter,
                      std::vector<IndexEntry>* partitions) {
  BlockContents contents;
  Status status = file.ReadBlock(filter.handle, &contents);
  // The block is empty if no key of the table goes into the filter.
  if (!status.ok() || contents.Bytes().empty()) return status;
  std::map<std::string, std::string> properties;
  status = file.ReadProperties(&properties);
  if (!status.ok()) return status;
  using Names = rocksdb::TablePropertiesNames;
  const bool delta = TableFile::NumberIn(properties, Names::kIndexValueIsDeltaEncoded) != 0;
  const bool user_keys = TableFile::NumberIn(properties, Names::kIndexKeyIsUserKey) != 0;
  status = ReadIndex(contents.Bytes(), delta, partitions);
  if (!status.ok()) return file.Named(status);
  // The partitions together are at most as large as the file: else a hostile index could name one
  // block many times.
  std::uint64_t unread = file.FileBytes();
  for (IndexEntry& partition : *partitions) {
    if (partition.handle.size > unread) {
      return file.Named(Status::Corruption("partitions overlap"));
    }
    unread -= partition.handle.size;
    if (user_keys) continue;
    constexpr std::size_t kSequenceBytes = 8;
    if (partition.key.size() < kSequenceBytes) {
      return file.Named(Status::Corruption("a wrong key in the index of partitions"));
    }
    partition.key.resize(partition.key.size() - kSequenceBytes);
  }
  return status;
}

}  // namespace

FilterLocation FindFilter(const TableFile& file) {
  constexpr std::array<std::pair<const char*, FilterForm>, 3> kPrefixes{
      {{"fullfilter.", FilterForm::kFull},
       {"partitionedfilter.", FilterForm::kPartitioned},
       {"filter.", FilterForm::kBlockBased}}};
  for (const auto& [name, handle] : file.MetaBlocks()) {
    for (const auto& [prefix, form] : kPrefixes) {
      if (!Slice(name).starts_with(prefix)) continue;
      return {form, name.substr(Slice(prefix).size()), handle};
    }
  }
  return {};
}

Status ListFilterBlocks(const TableFile& file, const FilterLocation& filter,
                        std::vector<IndexEntry>* blocks) {
  blocks->clear();
  if (filter.form == FilterForm::kFull) blocks->push_back({"", filter.handle});
  if (filter.form != FilterForm::kPartitioned) return Status::OK();
  return ListPartitions(file, filter, blocks);
}

Status VisitFilterBlocks(const TableFile& file, const FilterLocation& filter,
                         const std::function<Status(const Slice& block)>& visit) {
  std::vector<IndexEntry> blocks;
  Status status = ListFilterBlocks(file, filter, &blocks);
  for (const IndexEntry& block : blocks) {
    if (!status.ok()) break;
    BlockContents contents;
    status = file.ReadBlock(block.handle, &contents);
    if (status.ok()) status = visit(contents.Bytes());
  }
  return status;
}

}  // namespace exactbloom::files
