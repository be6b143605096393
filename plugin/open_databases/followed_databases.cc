#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "../bloom_filter_policy.h"
#include "../exception_barrier.h"
#include "../live_tree/listing.h"
#include "../live_tree/sized_table.h"
#include "exactbloom/tree_listener.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::Status;

// A database that only reads does not support ingestion; a writer refuses to ingest no files.
bool Writes(rocksdb::DB& root) {
  return !root.IngestExternalFile(root.DefaultColumnFamily(), {}, {}).IsNotSupported();
}

// Returns null if the family has another policy, or none. DB::SetOptions may replace the policy
// meanwhile, so the caller shares it.
std::shared_ptr<const BloomFilterPolicy> FindPolicy(ColumnFamilyHandle& family) {
  rocksdb::ColumnFamilyDescriptor descriptor;
  if (!family.GetDescriptor(&descriptor).ok()) return nullptr;
  const auto& factory = descriptor.options.table_factory;
  const auto* tables =
      factory == nullptr ? nullptr : factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (tables == nullptr) return nullptr;
  return {tables->filter_policy, BloomFilterPolicy::Of(tables->filter_policy.get())};
}

}  // namespace

Status FollowDatabase(rocksdb::DB* db, const std::vector<ColumnFamilyHandle*>& families) {
  return StatusOf([&] {
    rocksdb::DB& root = *db->GetRootDB();
    const rocksdb::DBOptions options = root.GetDBOptions();
    if (!HasTreeListener(options)) {
      return Status::InvalidArgument(
          "exactbloom: the database has no tree listener: set listeners=exactbloom_tree in the "
          "DBOptions, or insert exactbloom::NewTreeListener() in front of theirs");
    }
    if (!Writes(root)) return Status::OK();
    std::map<std::string, ColumnFamilyHandle*> handles;
    handles[rocksdb::kDefaultColumnFamilyName] = root.DefaultColumnFamily();
    for (ColumnFamilyHandle* family : families) handles[family->GetName()] = family;
    const std::shared_ptr<tree::Database> database = tree::Registry::Get().Follow(root);
    // Jobs that run keep the policies that they began with.
    tree::JobId newest = 0;
    {
      const auto lock = database->Lock();
      for (const auto& [name, family] : database->families) {
        newest = std::max(newest, family->NewestJob());
      }
    }
    std::vector<ColumnFamilyHandle*> read;
    std::map<std::string, std::optional<tree::SizingOptions>> policies;
    bool follows = false;
    for (const auto& [name, handle] : handles) {
      read.push_back(handle);
      const std::shared_ptr<const BloomFilterPolicy> policy = FindPolicy(*handle);
      if (policy != nullptr && FollowsTree(policy->Options())) policies[name] = policy->Sizing();
      follows |= policies[name].has_value();
    }
    {
      const auto lock = database->Lock();
      for (const auto& [name, sizing] : policies) {
        // By its id, since a dropped family may have had the name.
        const auto family = database->Find(name, handles[name]->GetID());
        if (family == nullptr) continue;
        family->SetPolicyOf(std::max(family->policy_job, newest + 1), sizing);
      }
    }
    tree::ReadFamilies(root, *database, read);
    if (follows) {
      rocksdb::Info(options.info_log, "exactbloom: the database is followed; %s", kBeforeRemoval);
    }
    return Status::OK();
  });
}

}  // namespace exactbloom
