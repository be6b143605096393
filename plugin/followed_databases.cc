#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "../src/analysis/run_division.h"
#include "bloom_filter_policy.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/tree_listener.h"
#include "exception_barrier.h"
#include "live_tree/listing.h"
#include "live_tree/sized_table.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

// One that only reads does not support ingestion; a writer refuses to ingest no files.
bool Writes(rocksdb::DB& root) {
  return !root.IngestExternalFile(root.DefaultColumnFamily(), {}, {}).IsNotSupported();
}

// Null if the family has another policy, or none. DB::SetOptions may replace the policy meanwhile,
// so the caller shares it.
std::shared_ptr<const BloomFilterPolicy> PolicyOf(ColumnFamilyHandle& family) {
  rocksdb::ColumnFamilyDescriptor descriptor;
  if (!family.GetDescriptor(&descriptor).ok()) return nullptr;
  const auto& factory = descriptor.options.table_factory;
  const auto* tables =
      factory == nullptr ? nullptr : factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (tables == nullptr) return nullptr;
  return {tables->filter_policy, BloomFilterPolicy::Of(tables->filter_policy.get())};
}

// In a lookup that asks each of the runs.
double WastedReads(const SortedRuns& runs) {
  constexpr std::uint64_t kKeys = 1'000'000;
  const double bits_per_key =
      8.0 * static_cast<double>(runs.filter_bytes) / std::max(1.0, static_cast<double>(runs.keys));
  const auto bits = static_cast<std::uint64_t>(std::min(bits_per_key, kMaxBitsPerKey) *
                                               static_cast<double>(kKeys));
  const double rate = bits == 0 ? 1.0
                      : runs.ribbon
                          ? analysis::LargeRibbonRate(bits_per_key)
                          : FalsePositiveRate(FilterKind::kClassic, bits, kKeys,
                                              OptimalProbes(FilterKind::kClassic, bits, kKeys));
  return 1000.0 * static_cast<double>(runs.runs) * rate;
}

}  // namespace

Status FollowDatabase(rocksdb::DB* db, const std::vector<ColumnFamilyHandle*>& families) {
  return StatusOf([&] {
    rocksdb::DB& root = *db->GetRootDB();
    const rocksdb::DBOptions options = root.GetDBOptions();
    if (!HasTreeListener(options)) {
      return Status::InvalidArgument(
          "exactbloom: the database has no tree listener: set listeners=exactbloom_tree in the "
          "DBOptions, or push exactbloom::NewTreeListener() into them");
    }
    if (!Writes(root)) return Status::OK();
    std::map<std::string, ColumnFamilyHandle*> handles;
    handles[rocksdb::kDefaultColumnFamilyName] = root.DefaultColumnFamily();
    for (ColumnFamilyHandle* family : families) handles[family->GetName()] = family;
    std::vector<ColumnFamilyHandle*> read;
    std::vector<std::pair<std::string, tree::SizingOptions>> policies;
    for (const auto& [name, handle] : handles) {
      read.push_back(handle);
      const std::shared_ptr<const BloomFilterPolicy> policy = PolicyOf(*handle);
      if (policy != nullptr && FollowsTree(policy->Options())) {
        policies.emplace_back(name, policy->Sizing());
      }
    }
    const std::shared_ptr<tree::Database> database = tree::Follow(root);
    {
      const auto lock = tree::Registry::Get().Lock();
      for (const auto& [name, sizing] : policies) {
        tree::SetPolicy(sizing, database->FindOrAdd(name));
      }
      database->has_read_files = true;
    }
    tree::ListIfWanted(root, database, /*is_asked=*/true);
    tree::ReadProperties(root, *database, read);
    if (!policies.empty()) {
      rocksdb::Info(options.info_log, "exactbloom: the database is followed; %s", kBeforeRemoval);
    }
    return Status::OK();
  });
}

std::vector<SortedRuns> GetSortedRuns(const rocksdb::DB& db) {
  std::vector<SortedRuns> all;
  {
    const auto lock = tree::Registry::Get().Lock();
    const auto database = tree::Registry::Get().Find(*const_cast<rocksdb::DB&>(db).GetRootDB());
    if (database == nullptr) return all;
    for (const auto& [name, family] : database->families) {
      for (const tree::Tree::ListedRun& run : family.tree.ListAll()) {
        SortedRuns& runs = all.emplace_back();
        runs.column_family = name;
        runs.level = run.level;
        runs.tables = run.sum.tables;
        runs.runs = run.level == 0 ? runs.tables : 1;
        runs.keys = run.sum.keys;
        runs.filter_bytes = run.sum.filter_bytes;
        runs.ribbon = run.ribbon.value_or(family.ribbon);
      }
    }
  }
  for (SortedRuns& runs : all) runs.wasted_reads = WastedReads(runs);
  return all;
}

}  // namespace exactbloom
