#include "table_keys.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/memory_allocator.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <stdexcept>

#include "sst/regular_files.h"
#include "sst/table_file.h"
#include "support/filter_interfaces.h"

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

// Where RocksDB reads and decompresses blocks, however large they claim to be. Null would make it
// crash, and it passes exceptions on.
class BoundedMemory : public rocksdb::MemoryAllocator {
 public:
  explicit BoundedMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void* Allocate(std::size_t bytes) override {
    if (bytes <= most_bytes_) return ::operator new(bytes);
    throw std::length_error(
        fmt::format("a block takes {} bytes, more than {}", bytes, most_bytes_));
  }
  void Deallocate(void* block) override { ::operator delete(block); }
  const char* Name() const override { return "exactbloom.BoundedMemory"; }

 private:
  std::uint64_t most_bytes_;
};

using Properties = std::map<std::string, std::string>;

// Of any block of a table, which has no more than all of its keys and values.
std::uint64_t MostBlockBytes(const Properties& properties) {
  using Names = rocksdb::TablePropertiesNames;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  constexpr std::uint64_t kBytesOfAnEntry = 32;  // its lengths, its sequence number, a restart
  const auto number = [&](const std::string& name) {
    return std::min(kMost, files::TableFile::NumberIn(properties, name));
  };
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  return std::min(kMost, kLeast + number(Names::kRawKeySize) + number(Names::kRawValueSize) +
                             number(Names::kIndexSize) +
                             kBytesOfAnEntry * number(Names::kNumEntries));
}

Status NeedsRocksDB(const std::string& what, const std::string& versions) {
  return Status::NotSupported(what, "use a build with RocksDB " + versions);
}

// Reads the properties, and whether the file keeps the timestamps of its keys, if they have any.
// Errors: NotSupported, with the version that could, if this RocksDB cannot read such tables.
Status ReadForm(const std::string& path, Properties* read, bool* keeps_timestamps) {
  Properties& properties = *read;
  std::unique_ptr<files::TableFile> file;
  Status status = files::TableFile::Open(*files::RegularFiles(), path, &file);
  if (!status.ok()) return status;
  status = file->ReadProperties(&properties);
  if (!status.ok()) return status;
  const std::string off(1, '\0');
  const auto kept = properties.find("rocksdb.user.defined.timestamps.persisted");
  *keeps_timestamps = kept == properties.end() || kept->second != off;
  const auto apart = properties.find("rocksdb.separate.key.value.in.data.block");
  const bool keys_apart = apart != properties.end() && apart->second != off;
  const char* needed = RocksDBNeededFor(file->FormatVersion(), keys_apart);
  if (needed == nullptr) return status;
  const std::string version = std::to_string(file->FormatVersion());
  return NeedsRocksDB("this table has format_version " + version +
                          (keys_apart ? " and keys apart from values" : ""),
                      needed);
}

}  // namespace

Status TableKeys::Open(const std::string& path, std::unique_ptr<TableKeys>* keys) {
  std::unique_ptr<TableKeys> opened(new TableKeys);
  opened->options_.env = files::RegularFilesEnv();
  opened->options_.merge_operator = std::make_shared<AnyOperands>();
  Status status = opened->Read(path);
  if (status.ok()) *keys = std::move(opened);
  return status;
}

Status TableKeys::Read(const std::string& path) {
  bool keeps_timestamps = true;
  Properties written;
  Status status = ReadForm(path, &written, &keeps_timestamps);
  if (!status.ok()) return status;
  rocksdb::LRUCacheOptions no_cache;  // which says how blocks are allocated
  no_cache.capacity = 0;
  no_cache.memory_allocator = std::make_shared<BoundedMemory>(MostBlockBytes(written));
  rocksdb::BlockBasedTableOptions table_options;
  table_options.block_cache = rocksdb::NewLRUCache(no_cache);
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
  status = reader_->Open(path);
  if (!status.ok()) return status;
  const auto properties = reader_->GetTableProperties();
  if (properties == nullptr) return Status::Corruption(path, "RocksDB finds no properties in it");
  merges_ = properties->num_merge_operands != 0;
  const std::string& order = properties->comparator_name;
  if (!order.empty() && order != options_.comparator->Name()) {
    rocksdb::ConfigOptions strict;
    strict.ignore_unsupported_options = false;  // or an unknown order would be bytewise
    const Status known = rocksdb::Comparator::CreateFromString(strict, order, &options_.comparator);
    if (!known.ok()) return Status::NotSupported("the order of the keys is not known here", order);
    status = SetTimestampForm(keeps_timestamps);
    if (!status.ok()) return status;
    reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
    status = reader_->Open(path);
    if (!status.ok()) return status;
  }
  read_options_.verify_checksums = true;
  read_options_.fill_cache = false;
  read_options_.total_order_seek = true;
  oldest_.assign(timestamp_bytes_, '\0');
  newest_.assign(timestamp_bytes_, '\xff');
  from_ = oldest_;
  to_ = newest_;
  read_options_.iter_start_ts = &from_;
  if (timestamp_bytes_ != 0) read_options_.timestamp = &to_;
  // With counters, Seek() would call key(), which aborts for merged keys: see KeyAt.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  search_.reset(reader_->NewIterator(read_options_));
  read_options_.readahead_size = kReadAheadBytes;
  walk_.reset(reader_->NewIterator(read_options_));
  walk_->SeekToFirst();
  return Status::OK();
}

// If the table does not keep timestamps, the reader must know, and gives all keys the oldest one.
Status TableKeys::SetTimestampForm(bool kept) {
  timestamp_bytes_ = options_.comparator->timestamp_size();
  have_timestamps_ = kept && timestamp_bytes_ != 0;
  if (kept || timestamp_bytes_ == 0) return Status::OK();
  if (ROCKSDB_MAJOR < 9) {  // whose SstFileReader does not restore them
    return NeedsRocksDB("the timestamps of the keys are not in the table", "9.0 or later");
  }
  return rocksdb::GetColumnFamilyOptionsFromString(
      rocksdb::ConfigOptions(), options_, "persist_user_defined_timestamps=false", &options_);
}

Slice TableKeys::KeyAt(rocksdb::Iterator& iterator) {
  Slice key;
  if (merges_) {
    // A merged key has no sequence number, and key() would abort in a RocksDB with assertions.
    // This property is the user key of either kind.
    key_.clear();
    iterator.GetProperty("rocksdb.iterator.internal-key", &key_);
    key = key_;
  } else {
    key = iterator.key();  // with its sequence number, for the sake of timestamps
    key.remove_suffix(kSequenceBytes);
  }
  key.remove_suffix(timestamp_bytes_);
  return key;
}

void TableKeys::Next() {
  if (timestamp_bytes_ == 0) return walk_->Next();
  const std::string last = Key().ToString();
  do {
    walk_->Next();
  } while (walk_->Valid() && Key() == last);
}

bool TableKeys::Find(const Slice& target, Slice* key) {
  search_->Seek(target);
  if (!search_->Valid()) return false;
  *key = KeyAt(*search_);
  return true;
}

}  // namespace exactbloom::tool
