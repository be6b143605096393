// Numbers as RocksDB writes them into SSTables. Every reader stops at the end of its input.
#pragma once

#include <rocksdb/slice.h>

#include <cstdint>

namespace exactbloom::files {

// Little-endian numbers at `bytes`, which must hold them whole.
std::uint32_t DecodeFixed32(const char* bytes);
std::uint64_t DecodeFixed64(const char* bytes);

// These remove a number from the front of `input`. They return false if the input ends before the
// number does, or if the number has more than 64 bits.
bool TakeVarint(rocksdb::Slice* input, std::uint64_t* value);
bool TakeSignedVarint(rocksdb::Slice* input, std::int64_t* value);

}  // namespace exactbloom::files
