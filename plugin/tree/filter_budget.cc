#include "filter_budget.h"

#include <cmath>
#include <iterator>
#include <utility>

namespace exactbloom::tree {
namespace {

// Runs of about the same size as one element: a process may have thousands.
std::vector<RunsOfSize> MergeEqual(const std::vector<RunsOfSize>& runs) {
  constexpr double kClassesPerDoubling = 8.0;
  std::map<std::pair<int, bool>, RunsOfSize> classes;
  for (const RunsOfSize& run : runs) {
    const int size = static_cast<int>(kClassesPerDoubling * std::log2(run.keys + 1.0));
    RunsOfSize& sum =
        classes.try_emplace({size, run.is_large}, RunsOfSize{0.0, 0.0, 0.0, 0.0, run.is_large})
            .first->second;
    const double count = sum.count + run.count;
    const auto mean = [&](double RunsOfSize::*member) {
      sum.*member = (sum.*member * sum.count + run.*member * run.count) / count;
    };
    mean(&RunsOfSize::keys);
    mean(&RunsOfSize::filter_bytes);
    mean(&RunsOfSize::unknown_keys);
    sum.count = count;
  }
  std::vector<RunsOfSize> merged;
  merged.reserve(classes.size());
  for (const auto& [size, sum] : classes) merged.push_back(sum);
  return merged;
}

}  // namespace

LsmShape::PolicyId NewPolicyId() {
  static std::atomic<LsmShape::PolicyId> next{LsmShape::kForeignPolicy + 1};
  return next++;
}

FilterBudget& FilterBudget::Named(const std::string& name) {
  // Never destroyed: databases may be closed when the process ends.
  static auto& mutex = *new std::mutex;
  static auto& budgets = *new std::map<std::string, FilterBudget>;
  const std::lock_guard<std::mutex> lock(mutex);
  return budgets.try_emplace(name, name).first->second;
}

FilterBudget::FilterBudget(std::string name) : name_(std::move(name)), id_(NewPolicyId()) {}

void FilterBudget::SetBytes(std::uint64_t bytes) {
  if (bytes_.exchange(bytes) != bytes) ++changes_;
}

void FilterBudget::Follow(const std::shared_ptr<LsmShape>& shape) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto known = shapes_.begin(); known != shapes_.end();) {
    known = known->second.expired() ? shapes_.erase(known) : std::next(known);
  }
  shapes_[shape->Database()] = shape;
}

std::vector<std::shared_ptr<LsmShape>> FilterBudget::Followed() const {
  std::vector<std::shared_ptr<LsmShape>> shapes;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [path, known] : shapes_) {
    std::shared_ptr<LsmShape> shape = known.lock();
    if (shape != nullptr) shapes.push_back(std::move(shape));
  }
  return shapes;
}

void FilterBudget::AddOthers(const LsmShape& own, TreeView& view) const {
  view.budget_bytes = static_cast<double>(Bytes());
  for (const auto& shape : Followed()) {
    if (shape.get() == &own) continue;
    const LsmShape::Total total = shape->TotalOf(id_);
    view.held_filter_bytes += total.filter_bytes;
    view.held_unknown_keys += total.unknown_keys;
    const std::vector<RunsOfSize> runs = shape->RunsOfPolicy(id_);
    view.shared_runs.insert(view.shared_runs.end(), runs.begin(), runs.end());
  }
  view.shared_runs = MergeEqual(view.shared_runs);
}

std::map<std::string, std::map<std::string, LsmShape::Total>> FilterBudget::Use() const {
  std::map<std::string, std::map<std::string, LsmShape::Total>> use;
  for (const auto& shape : Followed()) {
    auto totals = shape->TotalsOf(id_);
    if (!totals.empty()) use[shape->Database()] = std::move(totals);
  }
  return use;
}

}  // namespace exactbloom::tree
