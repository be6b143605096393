// ExactBloom as RocksDB's filter policy.
//
// Each SSTable gets one filter (or one per partition) that is sized exactly for its keys: by bits
// per key or by a false-positive rate, with the number of probes that has the lowest exact rate.
// The policies belong to the family of RocksDB's built-in filters: they read existing Bloom and
// Ribbon filters, and a RocksDB without ExactBloom reads every table that they wrote, but without
// filtering. So they can be switched on and off over an existing database (docs/operations.md).
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
#include <memory>
#include <string>
#include <variant>

#include "exactbloom/memory_budget.h"
#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// The options of `exactbloom`. Option strings use the same names. docs/configuration.md lists the
// ranges and says which table gets what.
struct ExactBloomOptions {
  // Filter bits per key on average over the sorted runs, 0 .. kMaxBitsPerKey (layout.h), fractions
  // allowed; runs whose share is below kMinBitsPerKey get no filter. It may be lower itself: small
  // runs still get what the division gives them.
  double bits_per_key = 10.0;
  // Unless 0: the most bytes that filters may take, in all column families and databases of this
  // process whose policies name the same `budget` (memory_budget.h). bits_per_key is then the most
  // that keys get on average.
  BudgetSize memory_budget;
  // Its name. Without memory_budget the size is what another policy or SetMemoryBudget() says.
  std::string budget;
  // What it bounds (memory_budget.h); kFiltersAndIndexes with memory_budget only.
  BudgetCovers covers = BudgetCovers::kFilters;
  // Whether tables get Ribbon filters (filter.h), and Bloom filters only where they have so
  // few keys that these have the lower rate. Else all get Bloom filters, which take half the time
  // to build, and seven times the wasted reads at 10 bits per key.
  bool ribbon = true;
  // Salt of the key hash. Each filter stores its own, so it may be changed at any time.
  std::uint64_t hash_seed = 0;
};

// The options of `exact_ribbon`.
struct ExactRibbonOptions {
  // Of each table, 0 .. kMaxBitsPerKey.
  double bits_per_key = 10.0;
  // Unless 0, in place of bits_per_key: every filter gets the fewest bits whose exact
  // false-positive rate is at most this, 1e-9 .. 0.5.
  double fpr = 0.0;
  std::uint64_t hash_seed = 0;  // as above
};

// The options of `classic_bloom`, as those of `exact_ribbon`.
struct ClassicBloomOptions {
  double bits_per_key = 10.0;
  double fpr = 0.0;
  std::uint64_t hash_seed = 0;
};

// The options of `standard_bloom`, as those of `exact_ribbon`.
struct StandardBloomOptions {
  double bits_per_key = 10.0;
  double fpr = 0.0;
  std::uint64_t hash_seed = 0;
};

// A policy: the text that filter_policy= takes, such as `exactbloom:10` or
// `{id=exactbloom;memory_budget=2GiB}`, or the options of one; `rocksdb_bloom` is a text only.
using PolicySetting = std::variant<std::string, ExactBloomOptions, ExactRibbonOptions,
                                   ClassicBloomOptions, StandardBloomOptions>;

// Makes the tables of options, with which a database is opened then, get filters of a policy; the
// second form is for databases with several column families, once for each family. The block-based
// table factory that is there is replaced by one with the same options and this policy; without a
// factory one is made. Where the policy needs a tree listener and there is none, one is added. All
// else stays as it is.
//   policy   SetFilterPolicy(&options, "exactbloom:10"), or with options that a program computes:
//            ExactBloomOptions settings;
//            settings.memory_budget = "10%";
//            SetFilterPolicy(&options, settings)
// Errors: InvalidArgument for another kind of table factory, an unknown policy or option, a value
// outside its range, options that exclude each other; MemoryLimit. The options are then as before.
rocksdb::Status SetFilterPolicy(rocksdb::Options* options,
                                const PolicySetting& policy = "exactbloom:10");
rocksdb::Status SetFilterPolicy(rocksdb::DBOptions* db_options,
                                rocksdb::ColumnFamilyOptions* family_options,
                                const PolicySetting& policy = "exactbloom:10");

// Returns a new policy, for BlockBasedTableOptions::filter_policy, in the shared pointer that this
// and DBOptions::listeners are made of: so neither a policy nor a listener (tree_listener.h) is
// ever deleted by hand. It may serve several databases. Beside `exactbloom` a tree listener is
// needed. Errors: a policy that DB::Open refuses with InvalidArgument, as SetFilterPolicy would;
// SstFileWriter and CreateColumnFamily do not ask for errors, and get filters with default options,
// which the info log says. Throws std::bad_alloc.
std::shared_ptr<const rocksdb::FilterPolicy> NewFilterPolicy(
    const PolicySetting& policy = "exactbloom:10");

// Makes `exactbloom:10`, `exact_ribbon:10`, `{id=standard_bloom;fpr=0.01}` and so on known to this
// process, for option strings and OPTIONS files. It must be called before any of these is
// read; calling it again does nothing. The shared object libexactbloom_rocksdb.so calls it when it
// is loaded. Bad numbers and unknown options are refused when the options are read, or at the
// latest by DB::Open; RocksDB drops an unknown policy name before ExactBloom can see it. Throws
// std::bad_alloc.
void RegisterFilterPolicies();

}  // namespace exactbloom
