#include "table_filter_blocks.h"

#include <rocksdb/table_properties.h>

#include <algorithm>
#include <array>
#include <utility>

namespace exactbloom::files {

using rocksdb::Slice;
using rocksdb::Status;
using Names = rocksdb::TablePropertiesNames;

namespace {

// The largest block that a policy makes: 100 bits for a key and for its prefix, and something for
// few keys.
std::uint64_t MostFilterBytes(std::uint64_t entries) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMostBytesOfAnEntry = 32;
  constexpr std::uint64_t kMost = std::uint64_t{4} << 30;  // of any block
  return std::min(kMost, kLeast + std::min(kMost, entries) * kMostBytesOfAnEntry);
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

Status FilterBlockList::Open(const TableFile& file, const FilterLocation& filter) {
  file_ = &file;
  std::map<std::string, std::string> properties;
  Status status = file.ReadProperties(&properties);
  if (!status.ok()) return status;
  most_bytes_ = MostFilterBytes(TableFile::NumberIn(properties, Names::kNumEntries));
  if (filter.form == FilterForm::kFull) full_ = filter.handle;
  return filter.form == FilterForm::kPartitioned ? OpenIndex(filter, properties) : status;
}

Status FilterBlockList::OpenIndex(const FilterLocation& filter,
                                  const std::map<std::string, std::string>& properties) {
  Status status = file_->ReadBlock(filter.handle, &contents_);
  // The block is empty if no key of the table goes into the filter.
  if (!status.ok() || contents_.Bytes().empty()) return status;
  const bool delta = TableFile::NumberIn(properties, Names::kIndexValueIsDeltaEncoded) != 0;
  user_keys_ = TableFile::NumberIn(properties, Names::kIndexKeyIsUserKey) != 0;
  unread_ = file_->FileBytes();
  return file_->Named(index_.Open(contents_.Bytes(), delta));
}

Status FilterBlockList::Next(IndexEntry* block) {
  if (full_) {
    *block = {Slice(), *full_};
    full_.reset();
    return Status::OK();
  }
  Status status = index_.Next(block);
  if (!status.ok()) return file_->Named(status);
  // The partitions together are at most as large as the file: else a hostile index could name one
  // block many times.
  if (block->handle.size > unread_) return file_->Named(Status::Corruption("partitions overlap"));
  unread_ -= block->handle.size;
  if (user_keys_) return status;
  constexpr std::size_t kSequenceBytes = 8;
  if (block->key.size() < kSequenceBytes) {
    return file_->Named(Status::Corruption("a wrong key in the index of partitions"));
  }
  block->key.remove_suffix(kSequenceBytes);
  return status;
}

}  // namespace exactbloom::files
