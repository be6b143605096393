#include "registry.h"

#include <algorithm>

#include "../../src/model/sorted_runs.h"

namespace exactbloom::tree {
namespace {

void AddRuns(const Budget::Classes& more, double factor, Budget::Classes& sum) {
  for (const auto& [size, runs] : more) {
    auto& [keys, count] = sum[size];
    keys += factor * runs.first;
    count += factor * runs.second;
    if (count == 0.0) sum.erase(size);
  }
}

}  // namespace

void Budget::Set(const BudgetSetting& setting) {
  if (setting.made_at <= setting_.made_at) return;
  const std::optional<bool> before = setting_.covers_indexes;
  setting_ = setting;
  if (!setting_.covers_indexes) setting_.covers_indexes = before;
}

// What is taken away is what was added, so no sum can become wrong.
void Budget::Count(Family& family, bool has_other_runs) {
  constexpr int kWidth = 2;
  families_.insert(&family);
  held_.Add(family.All());
  held_.Add(family.counted, /*subtracts=*/true);
  family.counted = family.All();
  if (!has_other_runs) return;
  Classes classes;
  for (const analysis::EqualRuns& runs : family.Runs()) {
    auto& [keys, count] = classes[{model::SizeClass(runs.keys) / kWidth, runs.ribbon}];
    keys += runs.keys * runs.count;
    count += runs.count;
  }
  ReplaceRuns(family, std::move(classes));
}

void Budget::Leave(Family& family) {
  ReplaceRuns(family, {});
  held_.Add(std::exchange(family.counted, TableSum()), /*subtracts=*/true);
  families_.erase(&family);
}

void Budget::ReplaceRuns(Family& family, Classes runs) {
  if (family.counted_runs == runs) return;
  for (const auto& [size, added] : runs) runs_.try_emplace(size);  // which may throw
  AddRuns(runs, 1.0, runs_);
  AddRuns(family.counted_runs, -1.0, runs_);
  family.counted_runs.swap(runs);
}

std::vector<analysis::EqualRuns> Budget::RunsBeside(const Family& own) const {
  Classes sums = runs_;
  if (own.budget == this) AddRuns(own.counted_runs, -1.0, sums);
  std::vector<analysis::EqualRuns> others;
  others.reserve(sums.size());
  for (const auto& [size, sum] : sums) {
    others.push_back({sum.first / sum.second, sum.second, size.second});
  }
  return others;
}

Family::Family(Database& of, std::string its_name)
    : Tree(of.tables), database(of), name(std::move(its_name)) {}

void Family::SetPolicy(const std::optional<SizingOptions>& options) {
  if (options) SetOptions(options->division);
  const auto lock = Registry::Get().Lock();
  policy = options;
  Budget* const next = options ? options->budget : nullptr;
  if (next != nullptr && options->setting.bound != 0) next->Set(options->setting);
  const bool changes = budget != next;
  if (changes && budget != nullptr) budget->Leave(*this);
  budget = next;  // so that Leave undoes what Count has done if that throws
  if (changes && next != nullptr) next->Count(*this, /*has_other_runs=*/true);
}

void Family::SetPolicyOf(JobId job, const std::optional<SizingOptions>& options) {
  if (job < policy_job) return;
  policy_job = job;
  SetPolicy(options);
}

void Family::Count() {
  if (budget == nullptr) return;
  const auto lock = Registry::Get().Lock();
  budget->Count(*this, /*has_other_runs=*/true);
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

std::optional<SizingOptions> Database::CommonPolicy() const {
  std::optional<SizingOptions> common;
  for (const auto& [name, family] : families) {
    if (!family->policy) continue;
    if (common && common->budget != family->policy->budget) return std::nullopt;
    common = family->policy;
  }
  return common;
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
  return FindRoot(root);
}

std::shared_ptr<Database> Registry::FindRoot(const rocksdb::DB& root) const {
  for (const auto& database : databases_) {
    if (database->root == &root) return database;
  }
  return nullptr;
}

Databases Registry::OfPath(const std::string& path) {
  Databases found;
  const auto lock = Lock();
  for (const auto& database : databases_) {
    if (database->path == path) found.push_back(database);
  }
  return found;
}

template <typename Predicate>
void Registry::CloseIf(Predicate is_over) {
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
  CloseIf([&](const Database& other) {
    const bool is_same = other.root == &root || other.default_family == default_family;
    return is_same && other.session != session;
  });
  const auto made = std::make_shared<Database>(root, session, default_family);
  const auto lock = Lock();
  known = FindRoot(root);
  return known != nullptr ? known : databases_.emplace_back(made);  // another thread was faster
}

void Registry::Close(const rocksdb::ColumnFamilyHandle* default_family) {
  CloseIf([&](const Database& other) { return other.default_family == default_family; });
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
