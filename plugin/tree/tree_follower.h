// A filter policy's side of the trees that it follows.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "table_in_making.h"
#include "tree_division.h"

namespace exactbloom::tree {

// Of a policy with size_ratio=auto or memory_budget. May be used by several threads at once. The
// functions throw std::bad_alloc when memory is short.
class TreeFollower {
 public:
  explicit TreeFollower(const DivisionOptions& options);

  // A table whose filter's size depends on its tree.
  class Table {
   public:
    // Returns bits per key, as the tree is now.
    //   keys   of the table; 0: not known yet
    double BitsPerKey(std::uint64_t keys) const;

   private:
    friend class TreeFollower;
    const TreeFollower* follower_ = nullptr;
    std::shared_ptr<TreeCensus> census_;
    std::string family_;
    TreeCensus::JobId job_ = 0;
    int level_ = 0;
    rocksdb::Logger* info_log_ = nullptr;
  };

  // Returns the table that this thread makes; nothing if its tree is not known, because there is no
  // listener, or the database is being opened. The follower must outlive it.
  std::optional<Table> Begin(const rocksdb::FilterBuildingContext& context) const;

 private:
  double BitsPerKeyOf(const Table& table, std::uint64_t keys) const;
  // Adds the filters of the other databases that share the policy.
  void AddOtherDatabases(const TreeCensus& own, TreeView& view) const;
  void Announce(const Table& table, const TableShare& share) const;

  DivisionOptions options_;
  TreeDivision division_;
  TreeCensus::OwnerId id_;
  std::optional<NeedOfFilterSizes> need_;
  mutable std::mutex mutex_;
  // The databases whose tables this policy made filters for.
  mutable std::map<const TreeCensus*, std::weak_ptr<TreeCensus>> censuses_;
  // What was announced last, by log, family and level.
  mutable std::map<std::pair<const rocksdb::Logger*, std::string>, std::map<int, double>>
      announced_;
  mutable bool announced_budget_ = false;
};

}  // namespace exactbloom::tree
