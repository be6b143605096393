#include "record_log.h"

#include <rocksdb/table.h>

#include <memory>
#include <vector>

#include "block_checksum.h"
#include "coding.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr std::size_t kBlockBytes = 32768;
constexpr std::size_t kLengthOffset = 4;
constexpr std::size_t kTypeOffset = 6;
constexpr std::size_t kHeaderBytes = 7;

enum FragmentType : unsigned char { kZero = 0, kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

std::size_t LengthOf(const Slice& header) {
  return static_cast<unsigned char>(header[kLengthOffset]) +
         (std::size_t{static_cast<unsigned char>(header[kLengthOffset + 1])} << 8U);
}

// Joins fragments to records.
class RecordVisitor {
 public:
  RecordVisitor(const std::function<Status(Slice)>& visit, std::size_t most_bytes)
      : visit_(visit), most_bytes_(most_bytes) {}

  // Visits the records that end in this block; sets `at_end` if the last one is incomplete.
  Status Visit(Slice block, bool* at_end) {
    Status status;
    while (status.ok() && block.size() >= kHeaderBytes) {
      const std::size_t length = LengthOf(block);
      const bool zeros = block[kTypeOffset] == kZero && length == 0;  // reserved space
      if (zeros || length > block.size() - kHeaderBytes) {
        *at_end = true;
        break;
      }
      status = Add({block.data(), kHeaderBytes + length});
      block.remove_prefix(kHeaderBytes + length);
    }
    return status;
  }

 private:
  Status Add(const Slice& fragment) {
    const Slice checked(fragment.data() + kTypeOffset, fragment.size() - kTypeOffset);
    if (BlockChecksum(rocksdb::kCRC32c, checked) != DecodeFixed32(fragment.data())) {
      return Status::Corruption("a record has a wrong checksum");
    }
    const auto type = static_cast<unsigned char>(fragment[kTypeOffset]);
    const bool starts = type == kWhole || type == kFirst;
    if (type == kZero || type > kLast || starts == inside_)
      return Status::Corruption("fragments in wrong order");
    if (starts) record_.clear();
    if (record_.size() + fragment.size() > most_bytes_ + kHeaderBytes) {
      return Status::Corruption("a record is too large");
    }
    record_.append(fragment.data() + kHeaderBytes, fragment.size() - kHeaderBytes);
    inside_ = type == kFirst || type == kMiddle;
    return inside_ ? Status::OK() : visit_(record_);
  }

  const std::function<Status(Slice)>& visit_;
  const std::size_t most_bytes_;
  std::string record_;
  bool inside_ = false;
};

}  // namespace

Status VisitRecords(rocksdb::FileSystem& file_system, const std::string& path,
                    const std::function<Status(Slice)>& visit, std::size_t most_record_bytes) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  Status status = file_system.NewSequentialFile(path, rocksdb::FileOptions(), &file, nullptr);
  std::vector<char> scratch(kBlockBytes);
  RecordVisitor records(visit, most_record_bytes);
  bool at_end = false;
  while (status.ok() && !at_end) {
    Slice block;
    status = file->Read(kBlockBytes, rocksdb::IOOptions(), &block, scratch.data(), nullptr);
    if (!status.ok()) break;
    at_end = block.size() < kBlockBytes;
    bool cut = false;
    status = records.Visit(block, &cut);
    at_end = at_end || cut;
  }
  if (status.IsCorruption()) return Status::Corruption(path, status.getState());
  if (status.IsNotSupported()) return Status::NotSupported(path, status.getState());
  return status;
}

}  // namespace exactbloom::files
