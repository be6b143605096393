// RocksDB's headers for code without exceptions, to be included before others of RocksDB. GCC does
// not parse the throws of multi_scan.h, which db.h includes from 10.1 on; nothing here calls them.
#pragma once

// These bring the headers of the C++ library, where `throw` means something else.
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/transaction_log.h>

#define throw (void)
#include <rocksdb/db.h>
#undef throw
