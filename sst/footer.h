// The last bytes of an SSTable: format version, checksum type, and where the metaindex lies.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <cstdint>

namespace exactbloom::files {

// Where a block's contents lie. A trailer of kBlockTrailerBytes follows them.
struct BlockHandle {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

inline constexpr std::uint64_t kBlockTrailerBytes = 5;  // compression type, checksum

// Removes a handle from the front of `input`; false if it is incomplete.
bool TakeHandle(rocksdb::Slice* input, BlockHandle* handle);

struct Footer {
  std::uint32_t format_version = 0;
  rocksdb::ChecksumType checksum = rocksdb::kNoChecksum;
  std::uint32_t base_checksum = 0;  // for ChecksumOfPlace
  BlockHandle metaindex;
};

inline constexpr std::size_t kMinFooterBytes = 48;  // of format version 0
inline constexpr std::size_t kMaxFooterBytes = 53;  // of all others

// Reads the footer of a block-based table of format versions 0 to 7.
//   tail        the last min(kMaxFooterBytes, file_bytes) bytes of the file
//   file_bytes  at least kMinFooterBytes
// Errors: NotSupported for tables that are not block-based and for later versions, Corruption for
// everything else.
rocksdb::Status DecodeFooter(rocksdb::Slice tail, std::uint64_t file_bytes, Footer* footer);

}  // namespace exactbloom::files
