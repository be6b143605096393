// exactbloom watch: the filters of a database over time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <thread>

#include "support/errors.h"
#include "support/text_table.h"
#include "tool/database/inspection.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;

// The mean and the range of what was seen.
class Range {
 public:
  void Add(double value) {
    sum_ += value;
    ++count_;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  double Mean() const { return sum_ / static_cast<double>(count_); }
  double Least() const { return least_; }
  double Most() const { return most_; }
  json ToJson() const { return {{"mean", Mean()}, {"least", least_}, {"most", most_}}; }

 private:
  double sum_ = 0.0;
  std::uint64_t count_ = 0;
  double least_ = std::numeric_limits<double>::max();
  double most_ = 0.0;
};

struct Observation {
  std::time_t time = 0;
  FilterSummary totals;
  double wasted_reads = 0.0;  // per lookup, as a mean over column families

  double BitsPerKey() const {
    return totals.keys == 0 ? 0.0
                            : static_cast<double>(totals.bits) / static_cast<double>(totals.keys);
  }
};

std::string Clock(std::time_t time, const char* format) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, format, &parts);
  return {text, length};
}

class Watch {
 public:
  explicit Watch(bool as_json) : as_json_(as_json) {}

  void Add(const Observation& seen) {
    wasted_.Add(seen.wasted_reads);
    bits_.Add(seen.BitsPerKey());
    as_json_ ? PrintJsonLine(seen) : PrintLine(seen);
    std::fflush(stdout);
  }

 private:
  void PrintLine(const Observation& seen) {
    if (!has_header_) {
      fmt::print("{:<8} {:>7} {:>8}  {:>17} {:>9} {:>9} {:>9}\n{:-<74}\n", "UTC", "tables",
                 "bits/key", "wasted per 1,000", "mean", "least", "most", "");
    }
    has_header_ = true;
    fmt::print("{:<8} {:>7} {:>8.2f}  {:>17} {:>9} {:>9} {:>9}\n", Clock(seen.time, "%H:%M:%S"),
               support::WithCommas(seen.totals.tables), seen.BitsPerKey(),
               PerThousand(seen.wasted_reads), PerThousand(wasted_.Mean()),
               PerThousand(wasted_.Least()), PerThousand(wasted_.Most()));
  }

  void PrintJsonLine(const Observation& seen) const {
    const json line = {{"time", Clock(seen.time, "%Y-%m-%dT%H:%M:%SZ")},
                       {"tables", seen.totals.tables},
                       {"filtering", seen.totals.filtering},
                       {"filter_bytes", seen.totals.filter_bytes},
                       {"bits_per_key", seen.BitsPerKey()},
                       {"wasted_reads", seen.wasted_reads},
                       {"wasted_reads_so_far", wasted_.ToJson()},
                       {"bits_per_key_so_far", bits_.ToJson()}};
    fmt::print("{}\n", line.dump());
  }

  const bool as_json_;
  bool has_header_ = false;
  Range wasted_;
  Range bits_;
};

}  // namespace

void RunWatch(const WatchArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  };
  Watch watch(arguments.json);
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + seconds(arguments.duration);
  for (Clock::time_point next = begin;; next += seconds(arguments.interval)) {
    const Inspection inspection = Inspect(arguments.paths, {}, arguments.column_family);
    if (inspection.database.empty()) {
      throw support::InputError("watch takes a database: single files have no lookups");
    }
    watch.Add({std::time(nullptr), inspection.totals, MeanWastedReads(inspection)});
    if (next + seconds(arguments.interval) > end) return;
    std::this_thread::sleep_until(next + seconds(arguments.interval));
  }
}

}  // namespace exactbloom::tool
