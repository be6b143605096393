#include "verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "exactbloom/theory/confidence_interval.h"
#include "key_block.h"
#include "operation.h"
#include "support/rate_deviation.h"

namespace exactbloom::filter_benchmark {
namespace {

constexpr std::size_t kKeysAtOnce = 16'384;
constexpr std::uint64_t kMostPresentQueries = 1'000'000;

std::uint64_t CountPositive(const std::string& name, rocksdb::FilterBitsReader& reader,
                            KeyBlock& keys) {
  const std::uint64_t in_turn = Ask(Operation::kNegativeThroughput, reader, keys).positive;
  const std::uint64_t in_batches = Ask(Operation::kNegativeBatch, reader, keys).positive;
  if (in_turn != in_batches) {
    throw WrongAnswer(
        fmt::format("{}: {} of {} keys may match when asked for one by one, {} in "
                    "batches",
                    name, in_turn, keys.size(), in_batches));
  }
  return in_turn;
}

}  // namespace

double RateMeasurement::Rate() const {
  return static_cast<double>(false_positives) /
         static_cast<double>(std::max<std::uint64_t>(1, absent_queries));
}

std::optional<std::string> Objection(const RateMeasurement& measurement) {
  if (measurement.keys_missed > 0) {
    return fmt::format("{} of its keys were answered absent", measurement.keys_missed);
  }
  if (!measurement.exact) return std::nullopt;
  const double exact = measurement.exact->mean;
  const double dispersion =
      support::Dispersion(exact, measurement.exact->relative_deviation, measurement.absent_queries);
  const Interval interval =
      WilsonInterval(measurement.false_positives, measurement.absent_queries, kZ999, dispersion);
  if (interval.Contains(exact)) return std::nullopt;
  return fmt::format(
      "{} of {} absent keys may match, so the rate is in {:.4g} .. {:.4g}, where the "
      "exact one is {:.4g}",
      measurement.false_positives, measurement.absent_queries, interval.low, interval.high, exact);
}

RateMeasurement MeasureRate(const std::string& name, rocksdb::FilterBitsReader& reader,
                            std::uint64_t keys, std::uint64_t absent_queries,
                            const std::optional<ExactRate>& exact) {
  RateMeasurement measurement;
  measurement.exact = exact;
  KeyBlock block(kKeysAtOnce);
  const std::uint64_t present_queries = std::min(keys, kMostPresentQueries);
  const std::uint64_t stride = keys / present_queries;
  for (std::uint64_t asked = 0; asked < present_queries; asked += block.size()) {
    block.FillPresent(asked * stride, static_cast<std::size_t>(std::min<std::uint64_t>(
                                          kKeysAtOnce, present_queries - asked)));
    measurement.keys_missed += block.size() - CountPositive(name, reader, block);
  }
  for (std::uint64_t i = 0; measurement.absent_queries < absent_queries; ++i) {
    block.FillAbsent(i);
    measurement.false_positives += CountPositive(name, reader, block);
    measurement.absent_queries += block.size();
    support::CheckForInterrupts();
  }
  if (const auto objection = Objection(measurement)) {
    throw WrongAnswer(fmt::format("{}: {}", name, *objection));
  }
  return measurement;
}

}  // namespace exactbloom::filter_benchmark
