// What a tool reads of a database are regular files. To open a FIFO waits for a writer, a device
// has no end, and a sparse file may have terabytes of zeros.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/status.h>

#include <functional>
#include <memory>
#include <string>

namespace exactbloom::files {

// The machine's file system, for RocksDB and for this folder, that opens only regular files, and
// links to such, for reading. A file ends where it did when it was opened. Errors, besides those of
// the machine: IOError for all else that a path may name; and for a file that is read from its
// beginning and is larger than any of its kind, 64 GiB for a MANIFEST or write-ahead log and 64 MiB
// for others.
const std::shared_ptr<rocksdb::FileSystem>& RegularFiles();

// The same as an environment, which is never destroyed.
rocksdb::Env* RegularFilesEnv();

// Reads a text whose middle does not matter, such as an info log: the first and the last 32 MiB of
// it. Errors: as for a write-ahead log.
rocksdb::Status ReadBothEnds(const std::string& path, std::string* text);

// Calls `visit` for each line of a text, without its end, until it returns false. A line beyond a
// megabyte is cut into several. Errors: as for a write-ahead log.
rocksdb::Status ReadLines(const std::string& path,
                          const std::function<bool(const std::string&)>& visit);

}  // namespace exactbloom::files
