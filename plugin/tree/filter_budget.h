// A bound for the bytes of filters, shared by all policies of the process that have its name.
//
// Each open database with tables of such a policy is followed by its LsmShape. Who decides the size
// of a filter does that under Lock(), from AddOthers() to LsmShape::SetPromised(), so that two
// filters never get the same bytes. All functions may be called by several threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lsm_shape.h"
#include "tree_view.h"

namespace exactbloom::tree {

class FilterBudget {
 public:
  // Returns the budget of this name, which lives as long as the process. Throws std::bad_alloc.
  static FilterBudget& Named(const std::string& name);

  explicit FilterBudget(std::string name);
  FilterBudget(const FilterBudget&) = delete;
  FilterBudget& operator=(const FilterBudget&) = delete;

  const std::string& Name() const { return name_; }
  // Of the families that share it.
  LsmShape::PolicyId Id() const { return id_; }

  // 0: no limit.
  std::uint64_t Bytes() const { return bytes_; }
  void SetBytes(std::uint64_t bytes);
  // How often the limit has changed.
  std::uint64_t Changes() const { return changes_; }

  std::unique_lock<std::mutex> Lock() { return std::unique_lock<std::mutex>(deciding_); }

  // The database counts from now on, until it is closed, instead of another shape of the same path.
  void Follow(const std::shared_ptr<LsmShape>& shape);
  // Adds the limit, and what all databases but `own` have.
  void AddOthers(const LsmShape& own, TreeView& view) const;

  // By path and family.
  std::map<std::string, std::map<std::string, LsmShape::Total>> Use() const;

 private:
  std::vector<std::shared_ptr<LsmShape>> Followed() const;

  const std::string name_;
  const LsmShape::PolicyId id_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> changes_{0};
  std::mutex deciding_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<LsmShape>> shapes_;  // by path
};

// Of no other policy or budget of this process.
LsmShape::PolicyId NewPolicyId();

}  // namespace exactbloom::tree
