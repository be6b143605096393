// ExactBloom as RocksDB's filter policy.
//
// Each SSTable gets one filter (or one a partition) that is sized exactly for its keys: the
// configured bits per key, rounded up to whole bytes, and the k with the lowest exact
// false-positive rate for them. The policies belong to the family of RocksDB's built-in filters:
// they read Bloom and Ribbon filters that are in the database already, and a RocksDB without
// ExactBloom reads every table that they wrote, only without filtering. So they can be switched on
// and off over an existing database.
//
//   rocksdb::BlockBasedTableOptions table_options;
//   table_options.filter_policy.reset(exactbloom::NewClassicBloomFilterPolicy(10));
//
// or, in option strings and OPTIONS files once the policies are registered,
//
//   filter_policy=classic_bloom:10
#pragma once

#include <rocksdb/filter_policy.h>

namespace exactbloom {

// Return a new policy that builds classic (k distinct bits a key) or standard (k independent bits)
// Bloom filters. The caller owns it.
//   bits_per_key   filter bits per key, 0 .. kMaxBitsPerKey, fractions allowed; below
//   kMinBitsPerKey
//                  tables get no filter
//   lines          0: a key's bits lie anywhere in the filter, for the lowest rate. 1: in one cache
//                  line, for the fastest check. 2: in two cache lines of one page. See layout.h
// Errors: a value outside its range makes a policy that DB::Open refuses with InvalidArgument,
// naming the option, the value and the range.
const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(double bits_per_key, int lines = 0);
const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(double bits_per_key, int lines = 0);

// Makes `classic_bloom:10`, `standard_bloom:9.9` and `{id=classic_bloom;bits_per_key=10}` known to
// this process, for option strings and OPTIONS files. To be called before any of these is read;
// calling it again does nothing. The shared object libexactbloom_rocksdb.so calls it when it is
// loaded. Bad numbers and unknown options are refused when the options are read, or at the latest
// by DB::Open; an unknown policy name is dropped by RocksDB before ExactBloom can see it.
void RegisterFilterPolicies();

}  // namespace exactbloom
