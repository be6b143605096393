// RocksDB's own Bloom filter as RocksDB runs it when it is compiled for AVX2, which Debian's
// package is not. Its code comes from RocksDB's source (scripts/rocksdb source); only the
// surrounding work of RocksDB (hashing, sizing and collecting keys) is repeated here.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

namespace exactbloom::filter_benchmark {

// Returns the policy, or null with the `reason`: the source was missing when the benchmark was
// configured, or this processor lacks AVX2.
std::shared_ptr<const rocksdb::FilterPolicy> NewFastLocalBloomAvx2(double bits_per_key,
                                                                   std::string* reason);

}  // namespace exactbloom::filter_benchmark
