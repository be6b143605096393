#include "footer.h"

#include <algorithm>
#include <array>
#include <string>

#include "block_checksum.h"
#include "coding.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr std::uint64_t kMagic = 0x88e241b785f4cff7ULL;
constexpr std::uint64_t kMagicOfVersion0 = 0xdb4775248b80fb57ULL;
constexpr std::size_t kMagicBytes = 8;
constexpr std::uint32_t kLatestVersion = 7;

// From this version on, the footer has a checksum, and no handle of the index.
constexpr std::uint32_t kVersionWithChecksum = 6;

// Offsets in the footer of that version.
constexpr std::size_t kExtendedMagicOffset = 1;
constexpr std::size_t kFooterChecksumOffset = 5;
constexpr std::size_t kBaseChecksumOffset = 9;
constexpr std::size_t kMetaindexSizeOffset = 13;
constexpr std::size_t kReservedOffset = 33;
constexpr std::uint32_t kExtendedMagic = 0x007a003eU;

Status Damaged(const std::string& what) {
  return Status::Corruption("the footer of the table is damaged", what);
}

Status DecodeWithChecksum(const Slice& bytes, std::uint64_t footer_offset, Footer* footer) {
  if (DecodeFixed32(bytes.data() + kExtendedMagicOffset) != kExtendedMagic) {
    return Damaged("extended magic number");
  }
  std::array<char, kMaxFooterBytes> copy;
  std::copy_n(bytes.data(), kMaxFooterBytes, copy.begin());
  std::fill_n(copy.begin() + kFooterChecksumOffset, sizeof(std::uint32_t), '\0');
  footer->base_checksum = DecodeFixed32(bytes.data() + kBaseChecksumOffset);
  const std::uint32_t checksum = BlockChecksum(footer->checksum, {copy.data(), copy.size()}) +
                                 ChecksumOfPlace(footer->base_checksum, footer_offset);
  if (checksum != DecodeFixed32(bytes.data() + kFooterChecksumOffset)) return Damaged("checksum");
  if (DecodeFixed64(bytes.data() + kReservedOffset) != 0) {
    return Status::NotSupported("the table uses a later feature of its format");
  }
  footer->metaindex.size = DecodeFixed32(bytes.data() + kMetaindexSizeOffset);
  if (footer->metaindex.size + kBlockTrailerBytes > footer_offset) return Damaged("metaindex");
  footer->metaindex.offset = footer_offset - kBlockTrailerBytes - footer->metaindex.size;
  return Status::OK();
}

}  // namespace

bool TakeHandle(Slice* input, BlockHandle* handle) {
  return TakeVarint(input, &handle->offset) && TakeVarint(input, &handle->size);
}

Status DecodeFooter(Slice tail, std::uint64_t file_bytes, Footer* footer) {
  if (tail.size() < kMinFooterBytes) return Damaged("the file is too short");
  const char* magic_at = tail.data() + tail.size() - kMagicBytes;
  const std::uint64_t magic = DecodeFixed64(magic_at);
  if (magic == kMagicOfVersion0) {
    tail.remove_prefix(tail.size() - kMinFooterBytes);
    *footer = {0, rocksdb::kCRC32c, 0, {}};
    return TakeHandle(&tail, &footer->metaindex) ? Status::OK() : Damaged("metaindex");
  }
  if (magic != kMagic) return Status::NotSupported("not a block-based table");
  if (tail.size() < kMaxFooterBytes) return Damaged("the file is too short");
  *footer = {DecodeFixed32(magic_at - sizeof(std::uint32_t)),
             static_cast<rocksdb::ChecksumType>(tail[0]),
             0,
             {}};
  if (footer->format_version > kLatestVersion) {
    return Status::NotSupported("this table has format_version " +
                                std::to_string(footer->format_version) +
                                ", which is not known here");
  }
  if (!IsKnownChecksum(footer->checksum)) return Damaged("checksum type");
  if (footer->format_version >= kVersionWithChecksum) {
    return DecodeWithChecksum(tail, file_bytes - kMaxFooterBytes, footer);
  }
  tail.remove_prefix(1);
  return TakeHandle(&tail, &footer->metaindex) ? Status::OK() : Damaged("metaindex");
}

}  // namespace exactbloom::files
