// Files of records, as RocksDB writes its MANIFEST.
//
//   file:      blocks of 32 KiB; no fragment crosses the end of a block; a rest that is shorter
//   than
//              a fragment's header is filled with zeros
//   fragment:  masked CRC-32C of type and bytes (32 bits), number of bytes (16 bits), type (8 bits:
//              whole record, or its first, a middle or its last part), bytes
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <functional>
#include <string>

namespace exactbloom::files {

// RocksDB writes all tables of a column family as one record: a million of them have less.
inline constexpr std::size_t kMostRecordBytes = std::size_t{256} << 20;

// Calls `visit` for each record, in order; its bytes are valid during the call. Accepts any bytes,
// and holds one block and one record in memory. An incomplete record ends the file: its writer is
// still writing, or was stopped. Errors: Corruption for a wrong checksum or order of fragments, and
// for a record of more than `most_record_bytes`; those of the file system, and the first one of
// `visit`, which ends the call. Corruption and NotSupported name the file.
rocksdb::Status VisitRecords(rocksdb::FileSystem& file_system, const std::string& path,
                             const std::function<rocksdb::Status(rocksdb::Slice)>& visit,
                             std::size_t most_record_bytes = kMostRecordBytes);

}  // namespace exactbloom::files
