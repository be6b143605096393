#include "filter_walk.h"

#include <rocksdb/file_system.h>

#include "exactbloom/filter_policy.h"

namespace exactbloom::tool {

using rocksdb::Slice;
using rocksdb::Status;

Status FilterWalk::Open(const std::string& path, const rocksdb::Comparator& order,
                        bool has_timestamps) {
  constexpr double kAnyBitsPerKey = 10.0;  // for a policy that only reads
  policy_.reset(NewClassicBloomFilterPolicy(kAnyBitsPerKey));
  order_ = &order;
  has_timestamps_ = has_timestamps;
  Status status = files::TableFile::Open(*rocksdb::FileSystem::Default(), path, &file_);
  if (!status.ok()) return status;
  const files::FilterLocation location = files::FindFilter(*file_);
  if (location.compatibility_name != policy_->CompatibilityName()) {
    return Status::NotSupported("a filter of the policy", location.compatibility_name);
  }
  status = files::ListFilterBlocks(*file_, location, &blocks_);
  const std::size_t least = has_timestamps ? order.timestamp_size() : 0;
  for (const files::IndexEntry& block : blocks_) {
    if (status.ok() && location.form == files::FilterForm::kPartitioned &&
        block.key.size() < least) {
      status = file_->Named(Status::Corruption("a wrong key in the index of partitions"));
    }
  }
  return status;
}

Status FilterWalk::MoveTo(const Slice& key) {
  std::size_t block = next_;
  while (block + 1 < blocks_.size() && IsBehind(key, blocks_[block])) ++block;
  reader_.reset();
  Status status = file_->ReadBlock(blocks_[block].handle, &contents_);
  if (!status.ok()) return status;
  next_ = block + 1;
  reader_.reset(policy_->GetFilterBitsReader(contents_.Bytes()));
  return reader_ != nullptr ? Status::OK() : Status::MemoryLimit("the reader of a filter");
}

}  // namespace exactbloom::tool
