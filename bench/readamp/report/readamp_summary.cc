// SummaryText: which policy wastes how many reads, in how much memory.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "readamp_report.h"

namespace exactbloom::readamp {
namespace {

constexpr double kLookups = 1000.0;

struct Row {
  const PolicyResult* policy;
  const WorkloadResult* result;

  double Wasted() const { return kLookups * result->wasted_reads_per_lookup; }
  double KiB() const { return static_cast<double>(policy->filter_bytes) / 1024.0; }
};

bool IsFewer(const Row& best, const Row& other) {
  return best.result->interval.high < other.result->interval.low;
}

std::string Compared(const Row& best, const Row& other) {
  constexpr double kEqual = 0.005;
  const double memory = best.KiB() / other.KiB() - 1.0;
  return fmt::format(
      "{} than {} in {}",
      best.Wasted() > 0.0 ? fmt::format("{:.2g} times fewer", other.Wasted() / best.Wasted())
                          : "none, and so fewer",
      other.policy->policy,
      std::abs(memory) < kEqual ? "the same memory"
                                : fmt::format("{:.2g}% {} memory", 100.0 * std::abs(memory),
                                              memory < 0.0 ? "less" : "more"));
}

std::string Conclusion(const std::vector<Row>& rows) {
  if (rows.size() < 2) return "";
  std::vector<const Row*> order;
  order.reserve(rows.size());
  for (const Row& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const Row* one, const Row* other) {
    return one->Wasted() < other->Wasted();
  });
  const Row* first = &rows.front();
  const Row& best = *order[0];
  const Row& next = *order[1];
  const bool beats_next = IsFewer(best, next);
  std::vector<std::string> claims;
  if (IsFewer(best, *first)) claims.push_back(Compared(best, *first));
  if (beats_next && &next != first) claims.push_back(Compared(best, next));
  if (claims.empty()) {
    return fmt::format("{} and {} differ by no more than chance.\n", best.policy->policy,
                       (&best == first ? next : *first).policy->policy);
  }
  const std::string who =
      beats_next ? fmt::format("{} wastes the fewest:", best.policy->policy)
                 : fmt::format("{} and {}, which differ by no more than chance, waste the fewest:",
                               best.policy->policy, next.policy->policy);
  return fmt::format("{}\n{}.\n", who, fmt::join(claims, ",\n"));
}

std::string Bar(double part) {
  constexpr double kWidth = 40.0;
  std::string bar;
  for (long i = std::lround(kWidth * part); i > 0; --i) bar += "█";
  return bar.empty() ? "▏" : bar;
}

std::string BarTable(const std::vector<Row>& rows) {
  const std::string title = fmt::format("wasted reads in {:.0f} lookups ({})", kLookups,
                                        rows.front().result->description);
  std::size_t width = title.size();
  double most = 0.0;
  for (const Row& row : rows) {
    width = std::max(width, row.policy->policy.size());
    most = std::max(most, row.Wasted());
  }
  const std::string header = fmt::format("{:{}}  KiB of filters  wasted", title, width);
  std::string text = header + "\n" + std::string(header.size(), '-') + "\n";
  for (const Row& row : rows) {
    text += fmt::format("{:{}}  {:14.1f}  {:6.2f}  {}\n", row.policy->policy, width, row.KiB(),
                        row.Wasted(), Bar(most > 0.0 ? row.Wasted() / most : 0.0));
  }
  return text;
}

}  // namespace

std::string SummaryText(const std::vector<PolicyResult>& policies, std::size_t workload) {
  std::string text;
  std::vector<Row> rows;
  for (const PolicyResult& policy : policies) {
    const WorkloadResult& result = policy.workloads[workload];
    if (policy.filter_bytes > 0) rows.push_back({&policy, &result});
    if (policy.policy == "none") {
      text = fmt::format("Without filters a lookup wastes {:.2f} reads.\n",
                         result.wasted_reads_per_lookup);
    }
  }
  return rows.empty() ? "" : text + Conclusion(rows) + "\n" + BarTable(rows);
}

}  // namespace exactbloom::readamp
