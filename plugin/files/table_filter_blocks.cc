#include "table_filter_blocks.h"

#include <rocksdb/table_properties.h>

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "coding.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// How the index of a table, and the index of its filter's partitions, is written.
struct IndexForm {
  bool delta_encoded = false;  // the values
  bool user_keys = false;      // otherwise kSequenceBytes follow them
};

constexpr std::size_t kSequenceBytes = 8;

Status ReadIndexForm(const TableFile& file, IndexForm* form) {
  std::map<std::string, std::string> properties;
  Status status = file.ReadProperties(&properties);
  if (!status.ok()) return status;
  const auto is_set = [&properties](const std::string& name) {
    Slice value = properties[name];
    std::uint64_t number = 0;
    return TakeVarint(&value, &number) && number != 0;
  };
  form->delta_encoded = is_set(rocksdb::TablePropertiesNames::kIndexValueIsDeltaEncoded);
  form->user_keys = is_set(rocksdb::TablePropertiesNames::kIndexKeyIsUserKey);
  return status;
}

Status ListPartitions(const TableFile& file, const FilterLocation& filter,
                      std::vector<IndexEntry>* partitions) {
  BlockContents contents;
  Status status = file.ReadBlock(filter.handle, &contents);
  // A table without a key for its filter has an empty block instead of an index.
  if (!status.ok() || contents.Bytes().empty()) return status;
  IndexForm form;
  status = ReadIndexForm(file, &form);
  if (!status.ok()) return status;
  status = file.Named(ReadIndex(contents.Bytes(), form.delta_encoded, partitions));
  // An index that names more bytes than the file has would keep a reader busy for long.
  std::uint64_t unread = file.FileBytes();
  for (IndexEntry& partition : *partitions) {
    if (!status.ok()) break;
    if (partition.handle.size > unread)
      status = file.Named(Status::Corruption("partitions overlap"));
    unread -= partition.handle.size;
    if (form.user_keys) continue;
    if (partition.key.size() < kSequenceBytes) {
      status = file.Named(Status::Corruption("a wrong key in the index of partitions"));
    } else {
      partition.key.resize(partition.key.size() - kSequenceBytes);
    }
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
