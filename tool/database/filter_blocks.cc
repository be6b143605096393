#include "filter_blocks.h"

#include <rocksdb/slice.h>

#include "exactbloom/filter_policy.h"
#include "sst/regular_files.h"

namespace exactbloom::tool {

using rocksdb::Slice;
using rocksdb::Status;

Status FilterBlocks::Open(const std::string& path, const rocksdb::Comparator& order,
                          bool has_timestamps) {
  policy_ = NewFilterPolicy();  // any of ours reads all filters
  order_ = &order;
  has_timestamps_ = has_timestamps;
  Status status = files::TableFile::Open(*files::RegularFiles(), path, &file_);
  if (!status.ok()) return status;
  const files::FilterLocation location = files::FindFilter(*file_);
  if (location.compatibility_name != policy_->CompatibilityName()) {
    return Status::NotSupported("a filter of the policy", location.compatibility_name);
  }
  status = blocks_.Open(*file_, location);
  // RocksDB writes an empty block, and no index, where no key is in the filter.
  const bool has_index =
      location.form == files::FilterForm::kPartitioned && location.handle.size != 0;
  if (status.ok() && has_index && blocks_.AtEnd()) {
    return file_->Named(Status::Corruption("the index of the filter's partitions has no entries"));
  }
  return status;
}

Status FilterBlocks::MoveTo(const Slice& key) {
  reader_.reset();
  do {
    Status status = blocks_.Next(&block_);
    if (!status.ok()) return status;
    const bool needs_key = !blocks_.AtEnd() && has_timestamps_;
    if (needs_key && block_.key.size() < order_->timestamp_size()) {
      return file_->Named(Status::Corruption("a wrong key in the index of partitions"));
    }
  } while (!blocks_.AtEnd() && IsBehind(key));
  Status status = blocks_.Read(block_, &contents_);
  if (!status.ok()) return status;
  reader_.reset(policy_->GetFilterBitsReader(contents_.Bytes()));
  return reader_ != nullptr ? Status::OK() : Status::MemoryLimit("the reader of a filter");
}

}  // namespace exactbloom::tool
