#include "filter_walk.h"

#include <rocksdb/file_system.h>

#include <algorithm>

#include "exactbloom/filter_policy.h"
#include "plugin/files/table_filter_blocks.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr double kAnyBitsPerKey = 10.0;  // for a policy that only reads

}  // namespace

FilterWalk::FilterWalk() : policy_(NewClassicBloomFilterPolicy(kAnyBitsPerKey)) {}

Status FilterWalk::Open(const std::string& path, const rocksdb::Comparator& order,
                        std::unique_ptr<FilterWalk>* walk) {
  std::unique_ptr<FilterWalk> opened(new FilterWalk);
  opened->order_ = &order;
  Status status = files::TableFile::Open(*rocksdb::FileSystem::Default(), path, &opened->file_);
  if (!status.ok()) return status;
  const files::TableFile& file = *opened->file_;
  const files::FilterLocation location = files::FindFilter(file);
  if (location.compatibility_name != opened->policy_->CompatibilityName()) {
    return Status::NotSupported("a filter of the policy", location.compatibility_name);
  }
  status = files::ListFilterBlocks(file, location, &opened->blocks_);
  if (status.ok()) *walk = std::move(opened);
  return status;
}

Status FilterWalk::MoveTo(const Slice& key) {
  std::size_t block = next_;
  while (block + 1 < blocks_.size() && order_->Compare(key, blocks_[block].key) > 0) ++block;
  reader_.reset();
  Status status = file_->ReadBlock(blocks_[block].handle, &contents_);
  if (!status.ok()) return status;
  next_ = block + 1;
  description_ = DescribeFilterBlock(contents_.Bytes());
  reader_.reset(policy_->GetFilterBitsReader(contents_.Bytes()));
  return reader_ != nullptr ? Status::OK() : Status::MemoryLimit("the reader of a filter");
}

}  // namespace exactbloom::tool
