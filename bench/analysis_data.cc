// Prints the data of the figures of docs/theory.md, one point per line: the
// name of the figure and the numbers. scripts/figures/pictures.py draws them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"
#include "peer_filters.h"

namespace exactbloom {
namespace {

constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

int UsualProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys) {
  const double usual = std::log(2.0) * static_cast<double>(bits) / static_cast<double>(keys);
  return std::clamp(static_cast<int>(std::lround(usual)), 1, MostProbes(kind, bits));
}

double BestRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys) {
  return FalsePositiveRate(kind, bits, keys, OptimalProbes(kind, bits, keys));
}

// The cost of the usual k, and the error of the usual formula, in per cent, as the filter grows at
// fixed bits per key.
void PrintCosts() {
  constexpr std::uint64_t kMostKeys = 100'000;
  for (const std::uint64_t bits_per_key : {6U, 10U, 16U}) {
    for (std::uint64_t keys = 2; keys <= kMostKeys; keys += 1 + keys / 10) {
      const std::uint64_t bits = keys * bits_per_key;
      fmt::print("cost {} {}", bits_per_key, bits);
      for (const BloomKind kind : kKinds) {
        const int usual = UsualProbes(kind, bits, keys);
        const double rate = FalsePositiveRate(kind, bits, keys, usual);
        fmt::print(" {:.6g} {:.6g}", 100.0 * (rate / BestRate(kind, bits, keys) - 1.0),
                   100.0 * (rate / AsymptoticFalsePositiveRate(bits, keys, usual) - 1.0));
      }
      fmt::print("\n");
    }
  }
}

void PrintEfficiencies() {
  constexpr std::uint64_t kBits = 256;
  for (const int probes : {1, 2, 4, 8, 16, 32, 64}) {
    for (std::uint64_t keys = 1; keys <= 2 * kBits; keys += 1 + keys / 40) {
      fmt::print("efficiency {} {} {:.6g} {:.6g}\n", probes, keys,
                 Efficiency(BloomKind::kStandard, kBits, keys, probes),
                 Efficiency(BloomKind::kClassic, kBits, keys, probes));
    }
  }
}

// Rates of the designs that lead to a Bloom filter, by bits per key.
void PrintDesigns(const char* figure, std::uint64_t keys) {
  // Ribbon's overhead above the information bound, as RocksDB configures it (Dillinger and Walzer
  // 2021 report a few per cent).
  constexpr double kRibbonOverhead = 1.05;
  const auto n = static_cast<double>(keys);
  for (int half_bits_per_key = 2; half_bits_per_key <= 48; ++half_bits_per_key) {
    const double bits_per_key = half_bits_per_key / 2.0;
    const auto bits = static_cast<std::uint64_t>(bits_per_key * n);
    const double hashes = -std::expm1(n * std::log1p(-std::exp2(-bits_per_key)));
    double partitioned = 1.0;
    for (int k = 1; k <= MostProbes(BloomKind::kClassic, bits); ++k) {
      partitioned = std::min(partitioned, BloomRate(bits, keys, k));
    }
    fmt::print("{} {} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g}", figure, bits_per_key, hashes,
               FalsePositiveRate(BloomKind::kClassic, bits, keys, 1), partitioned,
               BestRate(BloomKind::kStandard, bits, keys),
               BestRate(BloomKind::kClassic, bits, keys));
    fmt::print(" {:.6g} {:.6g}\n", std::exp2(-bits_per_key / kRibbonOverhead),
               std::exp2(-bits_per_key));
  }
}

// The rates of small filters over those of RocksDB's Ribbon filters in blocks of equal bytes, at 4,
// 10 and 16 bits per key.
void PrintSmallFilters() {
  constexpr std::uint64_t kFewestKeys = 17;  // of less RocksDB's filter is a line, as ours
  constexpr std::uint64_t kMostKeys = 1000;
  const FilterBuilder builder = *FilterBuilder::Create({});
  for (std::uint64_t keys = kFewestKeys; keys <= kMostKeys; ++keys) {
    fmt::print("small {}", keys);
    for (const double bits_per_key : {4.0, 10.0, 16.0}) {
      const std::unique_ptr<const rocksdb::FilterPolicy> ribbon(
          rocksdb::NewRibbonFilterPolicy(bits_per_key, -1));
      const std::string peer = BuildPeer(*ribbon, keys);
      const double rate = builder.PlanWithin(keys, peer.size())->FalsePositiveRate();
      fmt::print(" {:.4g}", rate / RateOfPeer(peer, keys));
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace exactbloom

int main() {
  exactbloom::PrintCosts();
  exactbloom::PrintEfficiencies();
  exactbloom::PrintDesigns("designs", 1'000'000);
  exactbloom::PrintDesigns("designs_small", 24);
  exactbloom::PrintSmallFilters();
  return 0;
}
