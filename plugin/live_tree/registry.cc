#include "registry.h"

#include <algorithm>

namespace exactbloom::tree {

void Budget::SetBound(std::uint64_t bytes, std::uint64_t moment) {
  if (moment <= set_at_) return;
  set_at_ = moment;
  bound_ = bytes;
}

void Budget::Join(Family& family) {
  families_.insert(&family);
  family.budget = this;
  Recount(family);
}

void Budget::Leave(Family& family) {
  families_.erase(&family);
  family.budget = nullptr;
  Replace(family, {}, 0);
  ReplaceRuns(family, {});
}

void Budget::Recount(Family& family) {
  if (family.counted_change != family.tree.LiveChange()) ReplaceRuns(family, Classify(family));
  Replace(family, family.tree.FilterBytes(), family.tree.LiveChange());
}

// What is taken away is what was added, so no sum can become wrong.
void Budget::Replace(Family& family, const Tree::Bytes& bytes, std::uint64_t change) {
  held_.all += bytes.all - family.counted.all;
  held_.of_floors += bytes.of_floors - family.counted.of_floors;
  family.counted = bytes;
  family.counted_change = change;
}

void Budget::ReplaceRuns(Family& family, Classes runs) {
  for (const auto& [size, added] : runs) classes_.try_emplace(size);  // which may throw
  for (const auto& [size, added] : runs) {
    classes_[size].keys += added.keys;
    classes_[size].count += added.count;
  }
  for (const auto& [size, taken] : family.counted_runs) {
    const auto sum = classes_.find(size);
    sum->second.keys -= taken.keys;
    sum->second.count -= taken.count;
    if (sum->second.count == 0) classes_.erase(sum);
  }
  family.counted_runs.swap(runs);
}

// Classes, in which sizes differ by less than a fifth, bound the cost of a division: a process may
// have thousands of runs.
Budget::Classes Budget::Classify(const Family& family) {
  constexpr int kWidth = 2;
  Classes classes;
  for (const auto& [place, sum] : family.tree.Runs()) {
    const std::uint64_t count = place.first == 0 ? sum.tables : 1;
    Runs& runs = classes[{SizeClass(Real(sum.keys) / Real(count)) / kWidth, family.ribbon}];
    runs.keys += sum.keys;
    runs.count += count;
  }
  return classes;
}

std::vector<analysis::EqualRuns> Budget::RunsBeside(const Family& own) const {
  std::vector<analysis::EqualRuns> others;
  others.reserve(classes_.size());
  for (const auto& [size, sum] : classes_) {
    const auto of_own = own.counted_runs.find(size);
    const bool has_own = own.budget == this && of_own != own.counted_runs.end();
    const Runs part = has_own ? of_own->second : Runs();
    const std::uint64_t count = sum.count - part.count;
    if (count == 0) continue;
    others.push_back({Real(sum.keys - part.keys) / Real(count), Real(count), size.second});
  }
  return others;
}

void Family::Use(Budget* of_policy) {
  if (budget == of_policy) return;
  if (budget != nullptr) budget->Leave(*this);
  if (of_policy != nullptr) of_policy->Join(*this);
}

Family* Database::Find(const std::string& name) {
  const auto found = families.find(name);
  return is_closed || found == families.end() ? nullptr : found->second.get();
}

Family& Database::FindOrAdd(const std::string& name) {
  const auto known = families.find(name);
  if (known != families.end()) return *known->second;
  const auto family = std::make_shared<Family>();
  family->database = path;
  family->name = name;
  families.emplace(name, family);
  is_stale = true;
  return *family;
}

Family* Database::Find(const std::string& name, std::uint32_t id) {
  Family* family = &FindOrAdd(name);
  if (family->id == id) return family;
  if (family->id && *family->id > id) return nullptr;
  // Tables that came with a listing may be those of a dropped family, too.
  is_stale |= family->id || family->tree.FilterBytes().all != 0;
  if (family->id) {
    Forget(name);
    family = &FindOrAdd(name);
  }
  family->id = id;
  return family;
}

void Database::Forget(const std::string& name) {
  const auto family = families.find(name);
  if (family == families.end()) return;
  forgotten.push_back(family->second);
  family->second->Use(nullptr);
  families.erase(family);
}

void Database::Close() {
  is_closed = true;
  for (auto& [name, family] : families) family->Use(nullptr);
}

Registry& Registry::Get() {
  // Never destroyed: databases may be closed when the process ends.
  static Registry& registry = *new Registry;
  return registry;
}

template <typename Predicate>
std::shared_ptr<Database> Registry::CloseOne(Predicate predicate) {
  const auto found = std::find_if(databases_.begin(), databases_.end(),
                                  [&](const auto& database) { return predicate(*database); });
  if (found == databases_.end()) return nullptr;
  std::shared_ptr<Database> closed = std::move(*found);
  databases_.erase(found);
  closed->Close();
  return closed;
}

std::shared_ptr<Database> Registry::FindOrAdd(const rocksdb::DB& root, const std::string& session,
                                              const rocksdb::ColumnFamilyHandle* default_family) {
  std::shared_ptr<Database> known = Find(root);
  if (known != nullptr && known->session == session) return known;
  // One was closed without an event, which a listener that wraps ours may not forward.
  while (CloseOne([&](const Database& database) {
    return database.root == &root || database.default_family == default_family;
  })) {
  }
  databases_.push_back(std::make_shared<Database>(root, session, default_family));
  return databases_.back();
}

std::shared_ptr<Database> Registry::Find(const rocksdb::DB& root) const {
  const auto found = std::find_if(databases_.begin(), databases_.end(),
                                  [&](const auto& database) { return database->root == &root; });
  return found == databases_.end() ? nullptr : *found;
}

std::shared_ptr<Database> Registry::Find(const std::string& path, const std::string& family,
                                         JobId job, const std::string& table) const {
  std::shared_ptr<Database> of_path;
  std::shared_ptr<Database> of_job;
  int paths = 0;
  int jobs = 0;
  for (const auto& database : databases_) {
    if (database->path != path) continue;
    ++paths;
    of_path = database;
    const Family* const known = database->Find(family);
    if (known == nullptr || !known->tree.IsRunning(job)) continue;
    ++jobs;
    of_job = database;
  }
  if (jobs != 0) return jobs == 1 ? of_job : nullptr;
  const bool is_in_directory =
      table.compare(0, path.size(), path) == 0 && table.rfind('/') == path.size();
  return paths == 1 && is_in_directory ? of_path : nullptr;
}

std::shared_ptr<Database> Registry::FindOwner(const std::string& path, std::uint64_t number) const {
  std::shared_ptr<Database> owner;
  for (const auto& database : databases_) {
    if (database->path != path || database->owners.count(number) == 0) continue;
    if (owner == nullptr) {
      owner = database;
      continue;
    }
    owner->is_stale = database->is_stale = true;
    return nullptr;
  }
  return owner;
}

std::shared_ptr<Database> Registry::Close(const rocksdb::ColumnFamilyHandle* default_family) {
  return CloseOne(
      [&](const Database& database) { return database.default_family == default_family; });
}

void Registry::MarkAllStale() {
  for (const auto& database : databases_) database->is_stale = true;
}

Budget& Registry::NamedBudget(const std::string& name) {
  return budgets_.try_emplace(name, name).first->second;
}

Budget* Registry::FindBudget(const std::string& name) {
  const auto found = budgets_.find(name);
  return found == budgets_.end() ? nullptr : &found->second;
}

std::shared_ptr<Database> Follow(rocksdb::DB& root) {
  std::string session;
  root.GetDbSessionId(session).PermitUncheckedError();
  const rocksdb::ColumnFamilyHandle* const default_family = root.DefaultColumnFamily();
  const auto lock = Registry::Get().Lock();
  return Registry::Get().FindOrAdd(root, session, default_family);
}

}  // namespace exactbloom::tree
