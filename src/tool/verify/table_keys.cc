#include "table_keys.h"

#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

namespace exactbloom::tool {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr std::size_t kSequenceBytes = 8;
constexpr std::size_t kReadAheadBytes = std::size_t{1} << 20;

// The values are not used, but without an operator the iterator does not pass operands.
class AnyOperands : public rocksdb::MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& /*input*/,
                   MergeOperationOutput* /*output*/) const override {
    return true;
  }
  const char* Name() const override { return "exactbloom.AnyOperands"; }
};

}  // namespace

Status TableKeys::Open(const std::string& path, std::unique_ptr<TableKeys>* keys) {
  std::unique_ptr<TableKeys> opened(new TableKeys);
  rocksdb::BlockBasedTableOptions table_options;
  table_options.no_block_cache = true;
  opened->options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  opened->options_.merge_operator = std::make_shared<AnyOperands>();
  Status status = opened->Read(path);
  if (status.ok()) *keys = std::move(opened);
  return status;
}

Status TableKeys::Read(const std::string& path) {
  reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
  Status status = reader_->Open(path);
  if (!status.ok()) return status;
  const auto properties = reader_->GetTableProperties();
  merges_ = properties->num_merge_operands != 0;
  const std::string& order = properties->comparator_name;
  if (!order.empty() && order != options_.comparator->Name()) {
    const Status known = rocksdb::Comparator::CreateFromString(rocksdb::ConfigOptions(), order,
                                                               &options_.comparator);
    if (!known.ok()) return Status::NotSupported("the order of the keys is not known here", order);
    reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
    status = reader_->Open(path);
    if (!status.ok()) return status;
  }
  if (options_.comparator->timestamp_size() != 0) {
    return Status::NotSupported("the keys have timestamps", order);
  }
  read_options_.verify_checksums = true;
  read_options_.fill_cache = false;
  read_options_.total_order_seek = true;
  read_options_.iter_start_ts = &all_timestamps_;
  // To count the bytes read, a search calls key(): see KeyAt.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  search_.reset(reader_->NewIterator(read_options_));
  read_options_.readahead_size = kReadAheadBytes;
  walk_.reset(reader_->NewIterator(read_options_));
  walk_->SeekToFirst();
  return Status::OK();
}

Slice TableKeys::KeyAt(rocksdb::Iterator& iterator) {
  if (!merges_) {
    Slice key = iterator.key();  // with its sequence number, for the sake of timestamps
    key.remove_suffix(kSequenceBytes);
    return key;
  }
  // A merged key has no sequence number, and key() would abort in a RocksDB with assertions.
  // This property is the user key of either kind.
  key_.clear();
  iterator.GetProperty("rocksdb.iterator.internal-key", &key_);
  return key_;
}

bool TableKeys::Find(const Slice& target, Slice* key) {
  search_->Seek(target);
  if (!search_->Valid()) return false;
  *key = KeyAt(*search_);
  return true;
}

}  // namespace exactbloom::tool
