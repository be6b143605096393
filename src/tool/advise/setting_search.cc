#include "setting_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "exactbloom/levels.h"
#include "plugin/policy_options.h"
#include "setting_shapes.h"
#include "support/progress.h"

namespace exactbloom::tool {
namespace {

// A Bloom filter's rate falls by the factor e with every 1 / (ln 2)^2 bits per key.
constexpr double kBitsPerFactorE = 2.0813689810056077;

// Above zero where a setting has more bits than the constraint calls for.
double Excess(const PredictedFilters& filters, Constraint constraint) {
  if (constraint.goal == Goal::kMemory) {
    return std::log(static_cast<double>(std::max<std::uint64_t>(1, filters.bytes)) /
                    constraint.value);
  }
  return std::log(constraint.value / filters.wasted_reads);
}

struct Answer {
  BloomFilterPolicyOptions options;
  PredictedFilters filters;
};

// Finds the bits per key at which the excess is next to zero, on the side that the constraint
// allows: steps that are right for large filters, within bounds that close in.
std::optional<Answer> Solve(FilterPrediction& prediction, const SettingShape& shape,
                            Constraint constraint, double bits) {
  constexpr int kMostSteps = 16;
  // Tables of few lines have the same sizes over a range of bits: then near is good enough.
  constexpr int kEnoughSteps = 6;
  const bool memory = constraint.goal == Goal::kMemory;
  double low = 0.0;
  double high = kMaxBitsPerKey;
  std::optional<Answer> best;
  for (int step = 0; step < kMostSteps && high - low > kSearchTolerance; ++step) {
    bits = std::clamp(bits, kSearchTolerance, kMaxBitsPerKey);
    const BloomFilterPolicyOptions options = shape(bits);
    const PredictedFilters filters = prediction.Predict(options);
    const double excess = Excess(filters, constraint);
    (excess > 0.0 ? high : low) = bits;
    const bool allowed = memory ? excess <= 0.0 : excess >= 0.0;
    if (allowed) best = Answer{options, filters};
    if (allowed && std::abs(excess) < kSearchTolerance) break;
    if (best && step >= kEnoughSteps) break;
    // Half of the tolerance on the allowed side.
    const double aim = (memory ? -0.5 : 0.5) * kSearchTolerance;
    bits = memory ? bits * std::exp(aim - excess) : bits + (aim - excess) * kBitsPerFactorE;
    if (!(bits > low && bits < high)) bits = (low + high) / 2.0;
  }
  return best;
}

Candidate CandidateOf(const Answer& answer, double read_nanoseconds) {
  Candidate candidate;
  candidate.options = answer.options;
  candidate.policy = FormatPolicy(FilterKind::kClassic, answer.options);
  candidate.filters = answer.filters;
  candidate.nanoseconds =
      answer.filters.wasted_reads * read_nanoseconds + answer.filters.nanoseconds;
  candidate.complexity = ComplexityOf(answer.options);
  return candidate;
}

bool HasFilters(const Answer& answer, const TreeShape& tree) {
  return answer.filters.wasted_reads < static_cast<double>(tree.Runs());
}

// Whether a layout of faster checks, whose rates are never lower than those of lines = 0, may gain
// as much as is worthwhile over the best setting of that.
bool MayBeWorthwhile(const TreeShape& tree, int lines, Goal goal,
                     const std::vector<Candidate>& candidates) {
  if (lines == 0) return true;
  if (goal != Goal::kMemory || candidates.empty()) return false;
  double least = candidates.front().nanoseconds;
  for (const Candidate& candidate : candidates) least = std::min(least, candidate.nanoseconds);
  const std::uint64_t bytes = candidates.front().filters.bytes;
  const double saving =
      CheckNanoseconds(CheckedFilter::kAnywhere, bytes) -
      CheckNanoseconds(CheckedFilterOf(Layout{FilterKind::kClassic, lines}), bytes);
  return static_cast<double>(tree.Runs()) * saving > kWorthwhileGain * least;
}

double LeastBitsPerKey(const TreeShape& tree, const std::vector<Candidate>& candidates) {
  std::uint64_t bytes = candidates.front().filters.bytes;
  for (const Candidate& candidate : candidates) bytes = std::min(bytes, candidate.filters.bytes);
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(tree.Keys());
}

// The filters of every table at one rate.
std::vector<Candidate> CandidatesAtRate(FilterPrediction& prediction, double rate,
                                        double read_nanoseconds) {
  std::vector<Candidate> candidates;
  for (int lines = 0; lines <= kMaxLines; ++lines) {
    for (const BloomFilterPolicyOptions& options : SettingsAtRate(prediction, lines, rate)) {
      const Answer answer{options, prediction.Predict(options)};
      candidates.push_back(CandidateOf(answer, read_nanoseconds));
    }
  }
  return candidates;
}

}  // namespace

std::vector<Candidate> FindCandidates(const TreeShape& tree, Constraint constraint,
                                      double read_nanoseconds) {
  FilterPrediction prediction(tree);
  if (constraint.goal == Goal::kRate) {
    return CandidatesAtRate(prediction, constraint.value, read_nanoseconds);
  }
  support::Progress progress;
  progress.Begin("comparing settings", kMaxLines + 1);
  std::vector<Candidate> candidates;
  for (int lines = 0; lines <= kMaxLines; ++lines) {
    double bits = constraint.goal == Goal::kMemory
                      ? 8.0 * constraint.value / static_cast<double>(tree.Keys())
                      : kDefaultBitsPerKey;
    const auto add = [&](const SettingShape& shape) {
      const auto answer = Solve(prediction, shape, constraint, bits);
      if (!answer || !HasFilters(*answer, tree)) return false;
      candidates.push_back(CandidateOf(*answer, read_nanoseconds));
      return true;
    };
    // All shapes start from the bits per key of the flat setting.
    if (!add(FlatShape(lines, BottommostFilter::kBloom))) continue;
    bits = candidates.back().options.bits_per_key;
    progress.Add(1);
    if (!MayBeWorthwhile(tree, lines, constraint.goal, candidates)) continue;
    for (const SettingShape& shape : OtherShapes(tree, lines, bits)) add(shape);
    if (constraint.goal != Goal::kWastedReads || candidates.size() == 1) continue;
    // Other shapes need fewer bits than the flat one, and are divided anew at about their number.
    bits = LeastBitsPerKey(tree, candidates);
    candidates.resize(1);
    for (const SettingShape& shape : OtherShapes(tree, lines, bits)) add(shape);
  }
  progress.End();
  return candidates;
}

Candidate CandidateOfNow(const TreeShape& tree, const std::string& policy,
                         double read_nanoseconds) {
  Candidate now;
  now.policy = policy;
  now.filters.bytes = tree.FilterBytes();
  now.filters.wasted_reads = tree.WastedReads();
  for (const LevelShape& level : tree.levels) {
    now.filters.worst_rate =
        std::max(now.filters.worst_rate, level.wasted_reads / static_cast<double>(level.runs));
  }
  now.filters.nanoseconds = tree.CheckNanoseconds();
  now.nanoseconds = now.filters.wasted_reads * read_nanoseconds + now.filters.nanoseconds;
  return now;
}

double CostOf(const Candidate& candidate, Goal goal) {
  return goal == Goal::kMemory ? candidate.nanoseconds
                               : static_cast<double>(candidate.filters.bytes);
}

bool Meets(const Candidate& candidate, Constraint constraint) {
  switch (constraint.goal) {
    case Goal::kMemory:
      return static_cast<double>(candidate.filters.bytes) <= constraint.value;
    case Goal::kRate:
      return candidate.filters.worst_rate <= constraint.value;
    case Goal::kWastedReads:
      return candidate.filters.wasted_reads <= constraint.value;
  }
  return false;
}

std::size_t Choose(const std::vector<Candidate>& candidates, Goal goal) {
  const auto cost = [goal](const Candidate& candidate) { return CostOf(candidate, goal); };
  double least = cost(candidates.front());
  for (const Candidate& candidate : candidates) least = std::min(least, cost(candidate));
  std::size_t best = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (cost(candidate) > least * (1.0 + kWorthwhileGain)) continue;
    if (best == candidates.size() || candidate.complexity < candidates[best].complexity ||
        (candidate.complexity == candidates[best].complexity &&
         cost(candidate) < cost(candidates[best]))) {
      best = i;
    }
  }
  return best;
}

}  // namespace exactbloom::tool
