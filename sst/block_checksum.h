// The checksums in SSTables.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <cstdint>

namespace exactbloom::files {

// Whether BlockChecksum knows the type.
bool IsKnownChecksum(rocksdb::ChecksumType type);

// Returns the checksum that RocksDB stores for `bytes`; 0 for kNoChecksum. For a block, the bytes
// are its contents and its compression type.
std::uint32_t BlockChecksum(rocksdb::ChecksumType type, const rocksdb::Slice& bytes);

// Returns the context checksum that is added to the checksum of a block at `offset`, which reveals
// misplaced blocks. `base` comes from the footer; it is 0, and adds nothing, before format version
// 6.
std::uint32_t ChecksumOfPlace(std::uint32_t base, std::uint64_t offset);

}  // namespace exactbloom::files
