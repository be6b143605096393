#include "loaded_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "equal_memory.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/theory/confidence_interval.h"
#include "key_block.h"
#include "operation.h"
#include "tool/support/errors.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::WrongAnswer;

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kBlockTrailerBytes = 5;  // RocksDB's, behind every block of a file
constexpr std::size_t kKeysAtOnce = 16'384;
constexpr std::uint64_t kMostPresentQueries = 1'000'000;

std::uint64_t CountPositive(const std::string& name, rocksdb::FilterBitsReader& reader,
                            KeyBlock& keys) {
  const std::uint64_t in_turn = AskInTurn(reader, keys);
  const std::uint64_t in_batches = AskInBatches(reader, keys);
  if (in_turn == in_batches) return in_turn;
  throw WrongAnswer(
      fmt::format("{}: {} of {} keys may match when asked for one by one, {} in batches", name,
                  in_turn, keys.size(), in_batches));
}

std::optional<ExactRate> ExactRateOf(const FilterDesign& design, std::uint64_t keys,
                                     double bits_per_key) {
  if (!design.kind) return std::nullopt;
  const FilterSize size = SizeAtBitsPerKey(*design.kind, keys, bits_per_key);
  return ExactRate{size.false_positive_rate,
                   support::RelativeRateDeviation(*design.kind, size, keys)};
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
  }
  if (const auto objection = Objection(measurement)) {
    throw WrongAnswer(fmt::format("{}: {}", name, *objection));
  }
  return measurement;
}

FilterMemory::FilterMemory(const rocksdb::Slice& block, std::size_t offset)
    : data_(new char[block.size() + kBlockTrailerBytes + 2 * kLineBytes]) {
  const auto address = reinterpret_cast<std::uintptr_t>(data_.get());
  char* start = data_.get() + (kLineBytes - address % kLineBytes) + offset % kLineBytes;
  std::memcpy(start, block.data(), block.size());
  block_ = {start, block.size()};
}

double BuildFilter(const rocksdb::FilterPolicy& policy, std::uint64_t keys,
                   const std::function<void(const rocksdb::Slice&)>& consume) {
  using Clock = std::chrono::steady_clock;
  Clock::duration elapsed{0};
  KeyBlock block(kKeysAtOnce);
  const rocksdb::BlockBasedTableOptions options = EqualMemoryTableOptions();
  const rocksdb::FilterBuildingContext context(options);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(context));
  for (std::uint64_t first = 0; first < keys; first += block.size()) {
    block.FillPresent(first,
                      static_cast<std::size_t>(std::min<std::uint64_t>(kKeysAtOnce, keys - first)));
    const auto start = Clock::now();
    for (std::size_t i = 0; i < block.size(); ++i) builder->AddKey(block.slices()[i]);
    elapsed += Clock::now() - start;
  }
  std::unique_ptr<const char[]> buffer;
  const auto start = Clock::now();
  const rocksdb::Slice filter = builder->Finish(&buffer);
  elapsed += Clock::now() - start;
  consume(filter);
  return std::chrono::duration<double, std::nano>(elapsed).count();
}

LoadedFilter LoadFilter(const FilterDesign& design, std::uint64_t keys, double bits_per_key,
                        const LoadConditions& conditions) {
  LoadedFilter filter{design.name, design.make_policy(keys, bits_per_key), keys, nullptr, nullptr,
                      {}};
  BuildFilter(*filter.policy, keys, [&](const rocksdb::Slice& block) {
    filter.memory = std::make_unique<FilterMemory>(block, conditions.block_offset);
  });
  filter.reader.reset(filter.policy->GetFilterBitsReader(filter.memory->block()));
  filter.rate = MeasureRate(
      fmt::format("{}, {} keys, {:g} bits per key", design.name, keys, bits_per_key),
      *filter.reader, keys, conditions.absent_queries, ExactRateOf(design, keys, bits_per_key));
  return filter;
}

}  // namespace exactbloom::filter_benchmark
