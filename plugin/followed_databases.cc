#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bloom_filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "exception_barrier.h"
#include "filter_builder.h"
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

// Of a filter with the mean keys and bytes of these tables.
double RateOf(const tree::TableSum& tables, const FilterBuilder& builder) {
  const auto plan =
      builder.PlanWithin(tables.keys / tables.tables, tables.filter_bytes / tables.tables);
  return plan ? plan->FalsePositiveRate() : 1.0;
}

FilterBuilder NewPlanner(bool ribbon) {
  FilterBuilder::Options options;
  options.ribbon = ribbon;
  return std::move(*FilterBuilder::Create(options));
}

// Tables whose filters are alike, of one of the runs that are listed.
struct Part {
  std::size_t runs = 0;  // its place
  tree::TableSum sum;
  bool ribbon = false;
};

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
  std::vector<Part> parts;
  {
    const auto lock = tree::Registry::Get().Lock();
    const auto database = tree::Registry::Get().Find(*const_cast<rocksdb::DB&>(db).GetRootDB());
    if (database == nullptr) return all;
    for (const auto& [name, family] : database->families) {
      std::optional<std::pair<int, int>> last;
      for (const tree::Tree::ListedTables& tables : family.tree.ListAll()) {
        const std::pair<int, int> place = {tables.level, tables.size_class};
        if (std::exchange(last, place) != place) {
          all.emplace_back().column_family = name;
          all.back().level = tables.level;
        }
        SortedRuns& runs = all.back();
        runs.tables += tables.sum.tables;
        runs.keys += tables.sum.keys;
        runs.filter_bytes += tables.sum.filter_bytes;
        parts.push_back({all.size() - 1, tables.sum, tables.ribbon.value_or(family.ribbon)});
      }
    }
  }
  const FilterBuilder bloom = NewPlanner(/*ribbon=*/false);
  const FilterBuilder ribbon = NewPlanner(/*ribbon=*/true);
  std::vector<std::uint64_t> ribbon_keys(all.size());
  for (const Part& part : parts) {
    if (part.sum.keys == 0) continue;  // lookups ask no table without keys
    SortedRuns& runs = all[part.runs];
    if (part.ribbon) ribbon_keys[part.runs] += part.sum.keys;
    // An absent key is in the range of each table of level 0, and deeper of one, more often of one
    // with more keys.
    const double asked = runs.level == 0 ? tree::Real(part.sum.tables)
                                         : tree::Real(part.sum.keys) / tree::Real(runs.keys);
    runs.wasted_reads += 1000.0 * asked * RateOf(part.sum, part.ribbon ? ribbon : bloom);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].runs = all[i].level == 0 ? all[i].tables : 1;
    all[i].ribbon = all[i].keys != 0 && 2 * ribbon_keys[i] >= all[i].keys;
  }
  return all;
}

}  // namespace exactbloom
