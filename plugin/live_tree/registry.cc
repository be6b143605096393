#include "registry.h"

#include <algorithm>
#include <iterator>

namespace exactbloom::tree {

void Budget::SetBound(std::uint64_t bytes, bool covers_indexes, std::uint64_t moment) {
  if (moment <= set_at_) return;
  set_at_ = moment;
  bound_ = bytes;
  covers_indexes_ = covers_indexes;
}

template <typename Runs>
void AddRuns(const Runs& more, double factor, Runs& sum) {
  for (const auto& [size, runs] : more) {
    auto& [keys, count] = sum[size];
    keys += factor * runs.first;
    count += factor * runs.second;
    if (count == 0.0) sum.erase(size);
  }
}

// What is taken away is what was added, so no sum can become wrong.
void Budget::Count(const Family& family) {
  TableSum& counted = families_[&family];
  held_.Add(family.All());
  held_.Add(counted, -1.0);
  counted = family.All();
}

void Budget::CountRuns(const Family& family) {
  constexpr int kWidth = 2;
  Count(family);
  const bool ribbon = family.policy && family.policy->division.ribbon;
  Classes classes;
  for (const analysis::EqualRuns& runs : family.Runs(ribbon)) {
    auto& [keys, count] = classes[{SizeClass(runs.keys) / kWidth, ribbon}];
    keys += runs.keys * runs.count;
    count += runs.count;
  }
  ReplaceRuns(family, std::move(classes));
}

void Budget::Leave(const Family& family) {
  ReplaceRuns(family, {});
  held_.Add(families_[&family], -1.0);
  families_.erase(&family);
  runs_.erase(&family);
}

void Budget::ReplaceRuns(const Family& family, Classes runs) {
  Classes& counted = runs_[&family];
  if (counted == runs) return;
  for (const auto& [size, added] : runs) classes_.try_emplace(size);  // which may throw
  AddRuns(runs, 1.0, classes_);
  AddRuns(counted, -1.0, classes_);
  counted.swap(runs);
}

std::vector<analysis::EqualRuns> Budget::RunsBeside(const Family& own) const {
  Classes sums = classes_;
  const auto own_runs = runs_.find(&own);
  if (own_runs != runs_.end()) AddRuns(own_runs->second, -1.0, sums);
  std::vector<analysis::EqualRuns> others;
  others.reserve(sums.size());
  for (const auto& [size, sum] : sums) {
    others.push_back({sum.first / sum.second, sum.second, size.second});
  }
  return others;
}

Family::Family(Database& of, std::string its_name)
    : Tree(of.tables), database(of), name(std::move(its_name)) {}

std::optional<SizingOptions> Family::PolicyOfOthers() const {
  std::optional<SizingOptions> found;
  for (const auto& [other_name, other] : database.families) {
    if (!other->policy) continue;
    if (found && found->budget != other->policy->budget) return std::nullopt;
    found = other->policy;
  }
  return found;
}

void Family::SetPolicy(const std::optional<SizingOptions>& options) {
  const auto lock = Registry::Get().Lock();
  if (options && options->budget != nullptr && options->bound != 0) {
    options->budget->SetBound(options->bound, options->covers_indexes, options->made_at);
  }
  // A job of another family may have listed the tables before.
  const bool is_other =
      options && (!policy || policy->division.bits_per_key != options->division.bits_per_key);
  policy = options;
  if (is_other) Assume(options->division.bits_per_key);
  Budget* const of_policy = options ? options->budget : nullptr;
  if (budget == of_policy) return;
  if (budget != nullptr) budget->Leave(*this);
  budget = of_policy;
  if (budget != nullptr) budget->CountRuns(*this);
}

void Family::Count() {
  if (budget == nullptr) return;
  const auto lock = Registry::Get().Lock();
  budget->CountRuns(*this);
}

std::shared_ptr<Family> Database::Find(const std::string& name) const {
  const auto found = families.find(name);
  return is_closed || found == families.end() ? nullptr : found->second;
}

std::shared_ptr<Family> Database::FindOrAdd(const std::string& name) {
  const auto known = families.find(name);
  if (known != families.end()) return known->second;
  tables.MarkStale();
  return families.emplace(name, std::make_shared<Family>(*this, name)).first->second;
}

std::shared_ptr<Family> Database::Find(const std::string& name, std::uint32_t id) {
  std::shared_ptr<Family> family = FindOrAdd(name);
  if (family->id == id) return family;
  if (family->id && *family->id > id) return nullptr;
  // Tables that came with a listing may be those of a dropped family, too.
  if (family->id || family->All().filter_bytes != 0) tables.MarkStale();
  if (family->id) {
    Forget(name);
    family = FindOrAdd(name);
  }
  family->id = id;
  return family;
}

void Database::Forget(const std::string& name) {
  const auto family = families.find(name);
  if (family == families.end()) return;
  family->second->SetPolicy(std::nullopt);
  tables.Forget(*family->second);
  families.erase(family);
}

void Database::Close() {
  auto lock = Lock();
  listing_ended.wait(lock, [this] { return !is_being_listed; });
  is_closed = true;
  for (auto& [name, family] : families) family->SetPolicy(std::nullopt);
}

Registry& Registry::Get() {
  // Never destroyed: databases may be closed when the process ends.
  static Registry& registry = *new Registry;
  return registry;
}

std::shared_ptr<Database> Registry::Find(const rocksdb::DB& root) {
  const auto lock = Lock();
  const auto found = std::find_if(databases_.begin(), databases_.end(),
                                  [&](const auto& database) { return database->root == &root; });
  return found == databases_.end() ? nullptr : *found;
}

template <typename Predicate>
void Registry::CloseAll(Predicate is_over) {
  Databases closed;
  {
    const auto lock = Lock();
    const auto end = std::stable_partition(databases_.begin(), databases_.end(),
                                           [&](const auto& known) { return !is_over(*known); });
    closed.assign(end, databases_.end());
    databases_.erase(end, databases_.end());
  }
  for (const auto& database : closed) database->Close();
}

std::shared_ptr<Database> Registry::Follow(rocksdb::DB& root) {
  std::string session;
  root.GetDbSessionId(session).PermitUncheckedError();
  const rocksdb::ColumnFamilyHandle* const default_family = root.DefaultColumnFamily();
  std::shared_ptr<Database> known = Find(root);
  if (known != nullptr && known->session == session) return known;
  // One was closed without an event, which a listener that wraps ours may not forward.
  CloseAll([&](const Database& other) {
    const bool is_same = other.root == &root || other.default_family == default_family;
    return is_same && other.session != session;
  });
  const auto made = std::make_shared<Database>(root, session, default_family);
  const auto lock = Lock();
  const auto found = std::find_if(databases_.begin(), databases_.end(),
                                  [&](const auto& database) { return database->root == &root; });
  if (found != databases_.end()) return *found;  // another thread was faster
  return databases_.emplace_back(made);
}

Databases Registry::OfPath(const std::string& path) {
  Databases found;
  const auto lock = Lock();
  std::copy_if(databases_.begin(), databases_.end(), std::back_inserter(found),
               [&](const auto& database) { return database->path == path; });
  return found;
}

std::shared_ptr<Database> Registry::Find(const std::string& path, const std::string& family,
                                         JobId job, const std::string& table) {
  const auto of_path = OfPath(path);
  Databases of_job;
  for (const auto& database : of_path) {
    const auto lock = database->Lock();
    const auto known = database->Find(family);
    if (known != nullptr && known->IsRunning(job)) of_job.push_back(database);
  }
  if (!of_job.empty()) return of_job.size() == 1 ? of_job[0] : nullptr;
  const bool is_in_directory =
      table.compare(0, path.size(), path) == 0 && table.rfind('/') == path.size();
  return of_path.size() == 1 && is_in_directory ? of_path[0] : nullptr;
}

std::shared_ptr<Database> Registry::FindOwner(const std::string& path, std::uint64_t number) {
  auto owners = OfPath(path);
  if (owners.size() == 1) return owners[0];
  const auto lacks = [&](const auto& database) {
    const auto lock = database->Lock();
    const Tables& tables = database->tables;
    return tables.Find(number) == nullptr && !tables.IsErased(number);
  };
  owners.erase(std::remove_if(owners.begin(), owners.end(), lacks), owners.end());
  if (owners.size() == 1) return owners[0];
  for (const auto& database : owners) {
    const auto lock = database->Lock();
    database->tables.MarkStale();
  }
  return nullptr;
}

void Registry::Close(const rocksdb::ColumnFamilyHandle* default_family) {
  CloseAll([&](const Database& other) { return other.default_family == default_family; });
}

void Registry::MarkAllStale() {
  const auto lock = Lock();
  for (const auto& database : databases_) database->tables.MarkStale();
}

Budget& Registry::NamedBudget(const std::string& name) {
  return budgets_.try_emplace(name, name).first->second;
}

Budget* Registry::FindBudget(const std::string& name) {
  const auto found = budgets_.find(name);
  return found == budgets_.end() ? nullptr : &found->second;
}

}  // namespace exactbloom::tree
