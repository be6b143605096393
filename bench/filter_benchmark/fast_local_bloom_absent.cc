// Replaces fast_local_bloom_avx2.cc if RocksDB's source is missing.
#include "fast_local_bloom.h"

namespace exactbloom::filter_benchmark {

std::shared_ptr<const rocksdb::FilterPolicy> NewFastLocalBloomAvx2(double /*bits_per_key*/,
                                                                   std::string* reason) {
  *reason = "RocksDB's source was not there at build time (scripts/rocksdb source)";
  return nullptr;
}

}  // namespace exactbloom::filter_benchmark
