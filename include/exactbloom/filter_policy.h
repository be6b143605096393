// ExactBloom as RocksDB's filter policy.
//
// Each SSTable gets one filter (or one per partition) that is sized exactly for its keys: by bits
// per key or by a false-positive rate, with the k of the lowest exact rate. The policies belong to
// the family of RocksDB's built-in filters: they read existing Bloom and Ribbon filters, and a
// RocksDB without ExactBloom reads every table that they wrote, but without filtering. So they can
// be switched on and off over an existing database.
//
//   rocksdb::BlockBasedTableOptions table_options;
//   table_options.filter_policy.reset(exactbloom::NewClassicBloomFilterPolicy(10));
//
// or, in option strings and OPTIONS files once the policies are registered,
//
//   filter_policy=classic_bloom:10
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <vector>

#include "exactbloom/levels.h"
#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

inline constexpr double kAutoSizeRatio = -1.0;

// The options of a policy. Option strings use the same names. docs/configuration.md lists the
// ranges and says which table gets what.
struct BloomFilterPolicyOptions {
  // Filter bits per key, 0 .. kMaxBitsPerKey, fractions allowed; below kMinBitsPerKey tables get no
  // filter. With size_ratio it is the average over the levels; fpr and level_bits replace it.
  double bits_per_key = 10.0;
  // Unless 0: every filter gets the fewest bits whose exact false-positive rate is at most this,
  // kMinTargetRate .. kMaxTargetRate.
  double fpr = 0.0;
  // 0: a key's bits lie anywhere in the filter, for the lowest rate. 1: in one cache line, for the
  // fastest check. See layout.h.
  int lines = 0;
  // Unless 0: how many times larger each level is than the one above it, above 1. Smaller levels
  // then get more bits per key, so that an absent key wastes the fewest reads. See levels.h. With
  // kAutoSizeRatio (in option strings: auto) the division follows the sizes that the levels have;
  // that needs a tree listener (tree_listener.h).
  double size_ratio = 0.0;
  // Unless 0: the most bytes that the filters of all live tables may take, in all column families
  // and databases that share the policy object. bits_per_key is then the most that keys get on
  // average, and the division is that of kAutoSizeRatio, which need not be set. Option strings take
  // the suffixes K, M, G and T, with or without iB. Needs a tree listener.
  std::uint64_t memory_budget = 0;
  // Unless empty: bits per key of level 0, 1, 2 and so on, each in the range of bits_per_key; the
  // last also for all deeper levels.
  std::vector<double> level_bits;
  // The filters of tables in the bottommost sorted run, and with kAutoSizeRatio in each run with a
  // hundredth of the keys: ExactBloom's, or RocksDB's Ribbon filters in as many bytes.
  BottommostFilter bottommost = BottommostFilter::kBloom;
  // Salt of the key hash. Each filter stores its own, so it may be changed at any time.
  std::uint64_t hash_seed = 0;
};

// Return a new policy that builds classic (k distinct bits per key) or standard (k independent bits
// per key) Bloom filters. The caller owns it. Errors: a value outside its range, or options that
// exclude each other, make a policy that DB::Open refuses with InvalidArgument, naming the option,
// the value and the range.
const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(double bits_per_key);
const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(const BloomFilterPolicyOptions& options);
const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(double bits_per_key);
const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(const BloomFilterPolicyOptions& options);

// Makes `classic_bloom:10`, `standard_bloom:9.9` and `{id=classic_bloom;bits_per_key=10}` known to
// this process, for option strings and OPTIONS files. It must be called before any of these is
// read; calling it again does nothing. The shared object libexactbloom_rocksdb.so calls it when it
// is loaded. Bad numbers and unknown options are refused when the options are read, or at the
// latest by DB::Open; RocksDB drops an unknown policy name before ExactBloom can see it.
void RegisterFilterPolicies();

}  // namespace exactbloom
