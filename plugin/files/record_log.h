// Files of records, as RocksDB writes its MANIFEST.
//
//   file:      blocks of 32 KiB; a fragment never crosses a block's end, and where less than a
//              fragment's header is left in a block, it is zeros
//   fragment:  masked CRC-32C of what follows the length (32 bits), length (16 bits), type
//              (8 bits: whole record, first, middle or last part of one), bytes
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <functional>
#include <string>

namespace exactbloom::files {

// Calls `visit` for each record, in order; its bytes are valid during the call. Accepts any bytes
// and holds one block and one record in memory. An incomplete record, whose writer is still writing
// or was stopped, ends the file. Errors: Corruption for a wrong checksum or order of fragments, the
// file system's, and the first one of `visit`, at which it stops. Corruption and NotSupported get
// the file's name.
rocksdb::Status VisitRecords(rocksdb::FileSystem& file_system, const std::string& path,
                             const std::function<rocksdb::Status(rocksdb::Slice)>& visit);

}  // namespace exactbloom::files
