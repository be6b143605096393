// Numbers as RocksDB encodes them in SSTables. No function reads past the end of its input.
#pragma once

#include <rocksdb/slice.h>

#include <cstdint>

namespace exactbloom::files {

// Little-endian numbers at `bytes`, which must hold them whole.
std::uint32_t DecodeFixed32(const char* bytes);
std::uint64_t DecodeFixed64(const char* bytes);

// Remove a number from the front of `input`. Return false if the number is incomplete or has more
// than 64 bits.
bool TakeVarint(rocksdb::Slice* input, std::uint64_t* value);
bool TakeSignedVarint(rocksdb::Slice* input, std::int64_t* value);

}  // namespace exactbloom::files
