#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sections.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

struct Count {
  std::size_t agree = 0;
  std::size_t total = 0;

  void Add(bool agrees) {
    agree += agrees ? 1U : 0U;
    ++total;
  }
};

Count CountPoints(const Results& results) {
  Count count;
  for (const Point& point : results.points) {
    const auto exact = point.ExactWastedReads();
    if (exact) count.Add(point.WastedReadsInterval().Contains(*exact));
  }
  return count;
}

Count CountSizing(const Results& results) {
  Count count;
  for (const SizingPoint& point : results.sizing) {
    count.Add(point.exact.RateInterval().Contains(point.exact.exact_rate));
    if (point.usual.probes == point.exact.probes) continue;  // the same filters
    count.Add(point.usual.RateInterval().Contains(point.usual.exact_rate));
  }
  return count;
}

// What the model says of the very lookups that were delayed; their own processor time has some of
// the delay in it.
double ModelUs(const Point& point, const DelayedRun& run) {
  const double reads = static_cast<double>(run.reads) / static_cast<double>(run.lookups);
  return point.cpu_us + run.read_latency_us * reads;
}

Table DelayedTable(const Results& results, std::vector<double>* deviations) {
  Table table{"delayed",
              "Lookups with delayed reads, by the clock, and what the model says of them",
              {"policy", "tree", "bits per key", "read latency, us", "reads a lookup", "model, us",
               "measured, us", "deviation %"},
              {}};
  for (const Point& point : results.points) {
    for (const DelayedRun& run : point.delayed) {
      const double deviation = 100.0 * (run.mean_us / ModelUs(point, run) - 1.0);
      deviations->push_back(std::abs(deviation));
      table.rows.push_back(
          {TextCell(Label(point.family)), TextCell(point.tree), NumberCell(point.bits),
           NumberCell(run.read_latency_us),
           NumberCell(static_cast<double>(run.reads) / static_cast<double>(run.lookups)),
           NumberCell(ModelUs(point, run)), NumberCell(run.mean_us), NumberCell(deviation, 2)});
    }
  }
  return table;
}

}  // namespace

Section AgreementSection(const Results& results, Answers& answers) {
  const Count points = CountPoints(results);
  const Count sizing = CountSizing(results);
  Section section{
      "agreement",
      "Does it come as predicted?",
      {fmt::format(
           "The exact prediction lies in the 99.9% interval of {} of {} points in "
           "RocksDB that have one, and of {} of {} rates of filters alone; one in a thousand "
           "should lie outside.",
           points.agree, points.total, sizing.agree, sizing.total),
       "Each point is one tree: the interval counts with the chance of its filters' "
       "fills. RocksDB's count of checked filters is equal, at every point, to the count "
       "that follows from the tables' key ranges."},
      {},
      {}};
  answers.push_back(section.paragraphs.front());
  std::vector<double> deviations;
  Table delayed = DelayedTable(results, &deviations);
  if (delayed.rows.empty()) return section;
  std::sort(deviations.begin(), deviations.end());
  answers.push_back(fmt::format(
      "The model of time was tried with delayed reads in {} runs: half of the times by the clock "
      "deviate from it by less than {:.0f}%, the worst by {:.0f}%. The clock counts the waiting "
      "for a processor with other work as well, and the model does not.",
      deviations.size(), deviations[deviations.size() / 2], deviations.back()));
  section.tables.push_back(std::move(delayed));
  return section;
}

}  // namespace exactbloom::sweep
