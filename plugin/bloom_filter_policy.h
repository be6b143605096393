// The policy object that RocksDB asks for builders and readers.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "exactbloom/filter_policy.h"
#include "exactbloom/layout.h"
#include "exactbloom/rocksdb_namespace.h"
#include "live_tree/sized_table.h"
#include "memory_fit.h"
#include "policy_options.h"

namespace exactbloom {

// What the info log says of databases with ExactBloom's policies: without the library, RocksDB
// drops an unknown policy that an OPTIONS file names, and then uses no filter, without an error;
// its own policies let every key pass in filters of ExactBloom.
inline constexpr char kBeforeRemoval[] =
    "before ExactBloom is removed, set rocksdb_bloom and replace the filters "
    "(docs/operations.md, Switching off)";

// Puts a tree listener before the others. Throws std::bad_alloc.
//   warns_of_other_policies   of families whose tables come from another policy, or from none
void PutTreeListener(rocksdb::DBOptions* options, bool warns_of_other_policies = true);

// Does so if the policy needs one and there is none.
void AddTreeListener(const PolicyOptions& policy, rocksdb::DBOptions* options,
                     bool warns_of_other_policies = true);

class BloomFilterPolicy : public rocksdb::FilterPolicy {
 public:
  // A policy whose configuration failed (an error in `configuration`, or options out of range)
  // still exists, but a database cannot be opened with it: see ConfigureOptions. SstFileWriter,
  // CreateColumnFamily and DB::SetOptions do not ask whether it is valid: they get the filters of
  // its kind with the default options, and the info log says why.
  explicit BloomFilterPolicy(const PolicyOptions& options,
                             const rocksdb::Status& configuration = rocksdb::Status::OK());

  const char* Name() const override { return PolicyName(options_.kind); }
  std::string GetId() const override;
  // The built-in family's name, under which the filters of all tables are looked for and found.
  const char* CompatibilityName() const override;

  // Both return the error of the configuration, if any.
  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions& config_options) override;
  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db_options,
                                  const rocksdb::ColumnFamilyOptions& cf_options) const override;

  // Whether the other one is a policy of the same text.
  bool AreEquivalent(const rocksdb::ConfigOptions& config_options,
                     const rocksdb::Configurable* other, std::string* mismatch) const override;

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override;
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override;

  const PolicyOptions& Options() const { return options_; }
  // What it wants of the live tree, if it follows one.
  const tree::SizingOptions& Sizing() const { return sizing_; }

  // Returns the policy if it is one of these, or forwards to one; null otherwise.
  static const BloomFilterPolicy* Of(const rocksdb::FilterPolicy* policy);

 protected:
  // RocksDB drops errors of a filter policy in an OPTIONS file or option string and goes on, with
  // no filter or a half-configured one. So the error is kept, and reported again when the policy is
  // prepared or the database is opened with it.
  rocksdb::Status ConfigureOptions(const rocksdb::ConfigOptions& config_options,
                                   const std::unordered_map<std::string, std::string>& values,
                                   std::unordered_map<std::string, std::string>* unused) override;

  // An OPTIONS file reads filter_policy=classic_bloom:10 where possible.
  std::string SerializeOptions(const rocksdb::ConfigOptions& config_options,
                               const std::string& header) const override;

  // Of() asks for the policy by a name, since the plugin is compiled without RTTI.
  const void* GetOptionsPtr(const std::string& name) const override;

 private:
  // The column families whose filters were logged since a database was opened last, by info log and
  // name.
  using LoggedFamilies = std::set<std::pair<const rocksdb::Logger*, std::string>>;

  bool IsFirst(LoggedFamilies& logged, const rocksdb::FilterBuildingContext& context) const;
  // Logs what a column family's tables get, before the first of them is built: these filters, or
  // others because of an error.
  void LogFilters(const rocksdb::FilterBuildingContext& context) const;
  void WarnOfUnknownTree(const rocksdb::FilterBuildingContext& context) const;
  void Prepare();  // for options that are set

  PolicyOptions options_;
  rocksdb::Status configuration_;  // the first error
  tree::SizingOptions sizing_;
  mutable std::mutex logged_mutex_;
  mutable LoggedFamilies logged_;
  mutable LoggedFamilies warned_;  // that their tree is not known
  // Reads the blocks that are not ExactBloom's, and builds the filters of rocksdb_bloom.
  std::unique_ptr<const rocksdb::FilterPolicy> built_in_;
  // Shared by all tables that are built with this policy.
  mutable MemoryFit memory_fit_;
};

}  // namespace exactbloom
