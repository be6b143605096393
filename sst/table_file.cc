#include "table_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "block_checksum.h"
#include "coding.h"
#include "entry_block.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string Place(const BlockHandle& handle) {
  return "the block of " + std::to_string(handle.size) + " bytes at " +
         std::to_string(handle.offset);
}

// Ingestion may overwrite the value of this property in a finished file; the block's checksum then
// remains that of the value 0.
constexpr char kWrittenAtIngestion[] = "rocksdb.external_sst_file.global_seqno";

}  // namespace

TableFile::TableFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::string path,
                     std::uint64_t file_bytes)
    : file_(std::move(file)), path_(std::move(path)), file_bytes_(file_bytes) {}

Status TableFile::Open(rocksdb::FileSystem& file_system, const std::string& path,
                       std::unique_ptr<TableFile>* file) {
  const rocksdb::IOOptions io_options;
  std::uint64_t file_bytes = 0;
  Status status = file_system.GetFileSize(path, io_options, &file_bytes, nullptr);
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::FSRandomAccessFile> opened;
  status = file_system.NewRandomAccessFile(path, rocksdb::FileOptions(), &opened, nullptr);
  if (!status.ok()) return status;
  std::unique_ptr<TableFile> table(new TableFile(std::move(opened), path, file_bytes));

  std::array<char, kMaxFooterBytes> tail{};
  const auto tail_bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(tail.size(), file_bytes));
  status = table->Read(file_bytes - tail_bytes, tail_bytes, tail.data());
  if (status.ok()) status = DecodeFooter({tail.data(), tail_bytes}, file_bytes, &table->footer_);
  if (!status.ok()) return table->Named(status);
  status = table->ReadMetaindex();
  if (!status.ok()) return status;
  *file = std::move(table);
  return Status::OK();
}

Status TableFile::ReadMetaindex() {
  BlockContents contents;
  Status status = ReadBlock(footer_.metaindex, &contents);
  if (!status.ok()) return status;
  bool whole = true;
  status = VisitEntries(contents.Bytes(), [this, &whole](const Slice& name, Slice value) {
    BlockHandle handle;
    if (!TakeHandle(&value, &handle)) whole = false;
    meta_blocks_[name.ToString()] = handle;
  });
  if (status.ok() && !whole) status = Status::Corruption("a wrong handle in the metaindex");
  return Named(status);
}

Status TableFile::ReadProperties(std::map<std::string, std::string>* properties) const {
  properties->clear();
  const auto block = meta_blocks_.find("rocksdb.properties");
  if (block == meta_blocks_.end()) return Status::OK();
  BlockContents contents;
  Status status = ReadUnverified(block->second, &contents, kMostNameBlockBytes);
  if (!status.ok()) return Named(status);
  Slice written_later;
  status = VisitEntries(contents.Bytes(), [&](const Slice& name, const Slice& value) {
    (*properties)[name.ToString()] = value.ToString();
    if (name == kWrittenAtIngestion) written_later = value;
  });
  if (!status.ok()) return Named(status);
  status = Verify(block->second, contents);
  if (status.ok() || written_later.empty()) return Named(status);
  std::memset(contents.data_.get() + (written_later.data() - contents.data_.get()), 0,
              written_later.size());
  return Named(Verify(block->second, contents));
}

std::uint64_t TableFile::NumberIn(const std::map<std::string, std::string>& properties,
                                  const std::string& name) {
  const auto property = properties.find(name);
  if (property == properties.end()) return 0;
  Slice text = property->second;
  std::uint64_t number = 0;
  return TakeVarint(&text, &number) ? number : 0;
}

Status TableFile::ReadBlock(const BlockHandle& handle, BlockContents* contents,
                            std::uint64_t most_bytes) const {
  Status status = ReadUnverified(handle, contents, most_bytes);
  return Named(status.ok() ? Verify(handle, *contents) : status);
}

Status TableFile::Read(std::uint64_t offset, std::size_t count, char* scratch) const {
  if (count == 0) return Status::OK();  // empty file: the file system would report an error
  Slice result;
  Status status = file_->Read(offset, count, rocksdb::IOOptions(), &result, scratch, nullptr);
  if (!status.ok()) return status;
  if (result.size() != count) return Status::Corruption("the file ends before its size");
  if (result.data() != scratch) std::memcpy(scratch, result.data(), count);
  return Status::OK();
}

Status TableFile::ReadUnverified(const BlockHandle& handle, BlockContents* contents,
                                 std::uint64_t most_bytes) const {
  if (handle.size > file_bytes_ || handle.offset > file_bytes_ - handle.size ||
      kBlockTrailerBytes > file_bytes_ - handle.size - handle.offset ||
      handle.size > std::numeric_limits<std::size_t>::max() - kBlockTrailerBytes) {
    return Status::Corruption(Place(handle) + " lies outside the file");
  }
  if (handle.size > most_bytes) {
    return Status::Corruption(Place(handle) + " has more than " + std::to_string(most_bytes));
  }
  contents->size_ = static_cast<std::size_t>(handle.size);
  const std::size_t with_trailer = contents->size_ + kBlockTrailerBytes;
  contents->data_.reset(new (std::nothrow) char[with_trailer]);
  if (contents->data_ == nullptr) return Status::MemoryLimit(Place(handle));
  Status status = Read(handle.offset, with_trailer, contents->data_.get());
  if (!status.ok()) return status;
  if (contents->data_[contents->size_] != rocksdb::kNoCompression) {
    return Status::NotSupported(Place(handle) + " is compressed");
  }
  return Status::OK();
}

Status TableFile::Verify(const BlockHandle& handle, const BlockContents& contents) const {
  if (footer_.checksum == rocksdb::kNoChecksum) return Status::OK();
  const std::uint32_t checksum =
      BlockChecksum(footer_.checksum, {contents.data_.get(), contents.size_ + 1}) +
      ChecksumOfPlace(footer_.base_checksum, handle.offset);
  return checksum == DecodeFixed32(contents.data_.get() + contents.size_ + 1)
             ? Status::OK()
             : Status::Corruption(Place(handle) + " has a wrong checksum");
}

Status TableFile::Named(const Status& status) const {
  const Slice message = status.getState() != nullptr ? status.getState() : "";
  if (status.IsCorruption()) return Status::Corruption(path_, message);
  if (status.IsNotSupported()) return Status::NotSupported(path_, message);
  return status;  // the file system's errors name the file
}

}  // namespace exactbloom::files
