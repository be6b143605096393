// ExactBloom as RocksDB's filter policy.
//
// Each SSTable gets one filter (or one per partition) that is sized exactly for its keys: by bits
// per key or by a false-positive rate, with the k of the lowest exact rate. The policies belong to
// the family of RocksDB's built-in filters: they read existing Bloom and Ribbon filters, and a
// RocksDB without ExactBloom reads every table that they wrote, but without filtering. So they can
// be switched on and off over an existing database.
//
//   rocksdb::Options options;
//   rocksdb::Status status = exactbloom::SetFilterPolicy(&options, "exactbloom:10");
//
// or, in option strings and OPTIONS files once the policies are registered,
//
//   filter_policy=exactbloom:10
//
// There are five policies. `exactbloom` is the recommended one: it has Ribbon filters, and divides
// the memory among the sorted runs of the live LSM tree, so that the lookup of an absent key wastes
// the fewest reads. `exact_ribbon` gives all tables such filters of the same bits per key, without
// a listener. `classic_bloom` and `standard_bloom` give all tables Bloom filters of k distinct or k
// independent bits per key. `rocksdb_bloom` writes RocksDB's own Bloom filters and reads all, so
// that no table is without a filter before ExactBloom is removed; its one option is bits_per_key,
// which RocksDB takes as 1 from 0.5 to 1, and as 0 below.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// The options of `exactbloom`. Option strings use the same names. docs/configuration.md lists the
// ranges and says which table gets what.
struct ExactBloomOptions {
  // Filter bits per key on average over the sorted runs, 0 .. kMaxBitsPerKey, fractions allowed;
  // runs whose share is below kMinBitsPerKey get no filter. It may be lower itself: small runs
  // still get what the division gives them.
  double bits_per_key = 10.0;
  // Unless 0: the most bytes that filters may take, in all column families and databases of this
  // process whose policies name the same `budget` (memory_budget.h). bits_per_key is then the most
  // that keys get on average. Option strings take the suffixes K, M, G and T, with or without iB,
  // or a percentage of the memory that the process may use, as `10%`.
  std::uint64_t memory_budget = 0;
  // Without memory_budget: the size is what another policy or SetMemoryBudget() says.
  std::string budget;
  // Whether tables get Ribbon filters (filter.h), and Bloom filters only where they have so
  // few keys that these have the lower rate. Else all get Bloom filters, which take half the time
  // to build, and seven times the wasted reads at 10 bits per key.
  bool ribbon = true;
  // Salt of the key hash. Each filter stores its own, so it may be changed at any time.
  std::uint64_t hash_seed = 0;
};

// The options of `exact_ribbon`, as those of exactbloom and of the Bloom filter policies.
struct ExactRibbonOptions {
  double bits_per_key = 10.0;  // of each table, 0 .. kMaxBitsPerKey
  double fpr = 0.0;
  std::uint64_t hash_seed = 0;
};

// The options of `classic_bloom` and `standard_bloom`, as above.
struct BloomFilterPolicyOptions {
  // Of each table, 0 .. kMaxBitsPerKey; fpr replaces it.
  double bits_per_key = 10.0;
  // Unless 0: every filter gets the fewest bits whose exact false-positive rate is at most this,
  // kMinTargetRate .. kMaxTargetRate.
  double fpr = 0.0;
  std::uint64_t hash_seed = 0;
};

// Return a new policy, which the caller owns. Errors: a value outside its range, or options that
// exclude each other, make a policy that DB::Open refuses with InvalidArgument, naming the option,
// the value and the range.
const rocksdb::FilterPolicy* NewExactBloomFilterPolicy(double bits_per_key);
const rocksdb::FilterPolicy* NewExactBloomFilterPolicy(const ExactBloomOptions& options);
const rocksdb::FilterPolicy* NewExactRibbonFilterPolicy(double bits_per_key);
const rocksdb::FilterPolicy* NewExactRibbonFilterPolicy(const ExactRibbonOptions& options);
const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(double bits_per_key);
const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(const BloomFilterPolicyOptions& options);
const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(double bits_per_key);
const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(const BloomFilterPolicyOptions& options);

// Makes the tables of options, with which a database is opened then, get filters of a policy; the
// second form is for databases with several column families, once for each family. The block-based
// table factory that is there is replaced by one with the same options and this policy; without a
// factory one is made. Where the policy needs a tree listener and there is none, one is added. All
// else stays as it is.
//   policy   what filter_policy= takes: `exactbloom:10`, `{id=exactbloom;memory_budget=2G}`, ...
// Errors: InvalidArgument for another kind of table factory, an unknown policy or option, a value
// outside its range, options that exclude each other; MemoryLimit. The options are then as before.
rocksdb::Status SetFilterPolicy(rocksdb::Options* options,
                                const std::string& policy = "exactbloom:10");
rocksdb::Status SetFilterPolicy(rocksdb::DBOptions* db_options,
                                rocksdb::ColumnFamilyOptions* family_options,
                                const std::string& policy = "exactbloom:10");

// Makes `exactbloom:10`, `exact_ribbon:10`, `{id=standard_bloom;fpr=0.01}` and so on known to this
// process, for option strings and OPTIONS files. It must be called before any of these is
// read; calling it again does nothing. The shared object libexactbloom_rocksdb.so calls it when it
// is loaded. Bad numbers and unknown options are refused when the options are read, or at the
// latest by DB::Open; RocksDB drops an unknown policy name before ExactBloom can see it.
void RegisterFilterPolicies();

}  // namespace exactbloom
