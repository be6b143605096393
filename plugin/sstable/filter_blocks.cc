#include "filter_blocks.h"

#include <rocksdb/table_properties.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "coding.h"
#include "entry_block.h"

namespace exactbloom::sstable {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// The index of a table and that of its filter's partitions have their values encoded alike.
Status FindDeltaEncoding(const TableFile& file, bool* delta_encoded) {
  std::map<std::string, std::string> properties;
  Status status = file.ReadProperties(&properties);
  if (!status.ok()) return status;
  Slice value = properties[rocksdb::TablePropertiesNames::kIndexValueIsDeltaEncoded];
  std::uint64_t number = 0;
  *delta_encoded = TakeVarint(&value, &number) && number != 0;
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

Status VisitFilterBlocks(const TableFile& file, const FilterLocation& filter,
                         const std::function<Status(const Slice& block)>& visit) {
  if (filter.form != FilterForm::kFull && filter.form != FilterForm::kPartitioned) {
    return Status::OK();
  }
  BlockContents contents;
  Status status = file.ReadBlock(filter.handle, &contents);
  if (!status.ok()) return status;
  if (filter.form == FilterForm::kFull) return visit(contents.Bytes());

  bool delta_encoded = false;
  status = FindDeltaEncoding(file, &delta_encoded);
  if (!status.ok()) return status;
  std::vector<BlockHandle> partitions;
  // A table without a key for its filter has an empty block instead of an index.
  if (!contents.Bytes().empty()) {
    status = file.Named(ReadHandles(contents.Bytes(), delta_encoded, &partitions));
  }
  // An index that names more than the file holds would keep a reader busy for long.
  std::uint64_t unread = file.FileBytes();
  for (const BlockHandle& partition : partitions) {
    if (!status.ok()) break;
    if (partition.size > unread) return file.Named(Status::Corruption("partitions overlap"));
    unread -= partition.size;
    status = file.ReadBlock(partition, &contents);
    if (status.ok()) status = visit(contents.Bytes());
  }
  return status;
}

}  // namespace exactbloom::sstable
