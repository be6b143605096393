// Writes the data of docs/analysis.md and docs/why-bloom.md: one file for each figure or table,
// into the directory that is the argument. scripts/make_analysis_figures runs it and plots the
// files.
#include <fmt/format.h>
#include <fmt/os.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"

namespace exactbloom {
namespace {

const double kLn2 = std::log(2.0);
constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

int UsualProbes(std::uint64_t bits, std::uint64_t keys, int most) {
  const double usual = kLn2 * static_cast<double>(bits) / static_cast<double>(keys);
  return std::clamp(static_cast<int>(std::lround(usual)), 1, most);
}

int MostProbes(std::uint64_t bits) {
  return static_cast<int>(std::min<std::uint64_t>(bits, kMaxProbes));
}

// How far the usual k lies above k*, for every small m and n.
void WriteProbeMap(const std::string& directory) {
  auto file = fmt::output_file(directory + "/probe_map.dat");
  file.print("# bits keys usual-standard usual-classic\n");
  for (std::uint64_t bits = 2; bits <= 256; bits += 2) {
    for (std::uint64_t keys = 1; keys <= 64; ++keys) {
      if (bits < keys) {
        file.print("{} {} nan nan\n", bits, keys);
        continue;
      }
      const int usual = UsualProbes(bits, keys, MostProbes(bits));
      file.print("{} {} {} {}\n", bits, keys,
                 usual - OptimalProbes(FilterKind::kStandard, bits, keys),
                 usual - OptimalProbes(FilterKind::kClassic, bits, keys));
    }
    file.print("\n");
  }
}

// What the usual k costs, and what the usual rate misses, as the filter grows at fixed bits per
// key.
void WriteCost(const std::string& directory) {
  auto file = fmt::output_file(directory + "/cost.dat");
  file.print(
      "# bits_per_key bits cost_standard cost_classic missed_standard missed_classic, per cent\n");
  constexpr std::uint64_t kMostKeys = 100'000;
  for (const std::uint64_t bits_per_key : {6U, 10U, 16U}) {
    for (std::uint64_t keys = 2; keys <= kMostKeys; keys += 1 + keys / 10) {
      const std::uint64_t bits = keys * bits_per_key;
      double cost[2];
      double missed[2];
      for (int i = 0; i < 2; ++i) {
        const int usual = UsualProbes(bits, keys, MostProbes(bits));
        const double with_usual = FalsePositiveRate(kKinds[i], bits, keys, usual);
        const double with_best =
            FalsePositiveRate(kKinds[i], bits, keys, OptimalProbes(kKinds[i], bits, keys));
        cost[i] = 100.0 * (with_usual / with_best - 1.0);
        missed[i] = 100.0 * (with_usual / AsymptoticFalsePositiveRate(bits, keys, usual) - 1.0);
      }
      file.print("{} {} {:.6g} {:.6g} {:.6g} {:.6g}\n", bits_per_key, bits, cost[0], cost[1],
                 missed[0], missed[1]);
    }
    file.print("\n\n");
  }
}

void WriteEfficiency(const std::string& directory) {
  constexpr std::uint64_t kBits = 256;
  auto file = fmt::output_file(directory + "/efficiency.dat");
  file.print("# k keys standard classic, of {} bits\n", kBits);
  for (const int probes : {1, 2, 4, 8, 16, 32, 64}) {
    for (std::uint64_t keys = 1; keys <= 2 * kBits; keys += 1 + keys / 40) {
      file.print("{} {} {:.6g} {:.6g}\n", probes, keys,
                 Efficiency(FilterKind::kStandard, kBits, keys, probes),
                 Efficiency(FilterKind::kClassic, kBits, keys, probes));
    }
    file.print("\n\n");
  }
}

// Bits per key and rate of the designs that lead to a Bloom filter.
void WriteDesigns(const std::string& directory, const std::string& name, std::uint64_t keys) {
  // Ribbon's overhead above the information bound, as RocksDB configures it (Dillinger and Walzer
  // 2021 report a few per cent).
  constexpr double kRibbonOverhead = 1.05;
  const auto n = static_cast<double>(keys);
  auto file = fmt::output_file(directory + "/" + name);
  file.print(
      "# bits_per_key hashes one_hash partitioned standard classic lines1 lines2 bound ribbon\n");
  for (int half = 2; half <= 48; ++half) {
    const double bits_per_key = half / 2.0;
    const auto bits = static_cast<std::uint64_t>(bits_per_key * n);
    const std::uint64_t whole_lines = std::max<std::uint64_t>(2, bits / kLineBits) * kLineBits;
    const auto best = [&](Layout layout, std::uint64_t size) {
      return FalsePositiveRate(layout, size, keys, OptimalProbes(layout, size, keys));
    };
    double partitioned = 1.0;
    for (int k = 1; k <= MostProbes(bits); ++k) {
      partitioned = std::min(partitioned, BloomRate(bits, keys, k));
    }
    const double hashes = -std::expm1(n * std::log1p(-std::exp2(-bits_per_key)));
    const bool lines = bits >= 64 * kLineBits;
    file.print("{} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g}\n", bits_per_key,
               hashes, FalsePositiveRate(FilterKind::kClassic, bits, keys, 1), partitioned,
               best(FilterKind::kStandard, bits), best(FilterKind::kClassic, bits),
               lines ? best({FilterKind::kClassic, 1}, whole_lines) : NAN,
               lines ? best({FilterKind::kClassic, 2}, whole_lines) : NAN, std::exp2(-bits_per_key),
               std::exp2(-bits_per_key / kRibbonOverhead));
  }
}

// The tables of "Summary Cache", 1998, against the model and against the exact rate.
void WritePrintedRates(const std::string& directory, const std::string& printed) {
  std::ifstream table(printed);
  if (!table) throw std::runtime_error(printed + ": cannot be read");
  auto file = fmt::output_file(directory + "/printed_rates.txt");
  int count = 0;
  int misprints = 0;
  double worst = 0.0;
  for (std::string line; std::getline(table, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    std::uint64_t bits_per_key = 0;
    int probes = 0;
    double rate = 0.0;
    if (!(fields >> bits_per_key >> probes >> rate)) continue;
    ++count;
    const double model = AsymptoticFalsePositiveRate(bits_per_key, 1, probes);
    const double error = std::abs(rate / model - 1.0);
    if (error > 0.01) {
      ++misprints;
      file.print(
          "misprint: m/n = {}, k = {}: printed {:.3g}, the model gives {:.3g}, exact {:.3g}\n",
          bits_per_key, probes, rate, model,
          FalsePositiveRate(FilterKind::kStandard, bits_per_key * 1'000'000, 1'000'000, probes));
    } else {
      worst = std::max(worst, error);
    }
  }
  file.print("{} printed rates, {} misprints; the others within {:.2g}% of the model\n", count,
             misprints, 100.0 * worst);
}

// Table I of Bloom 1970: 50,000 of 500,000 words need a disk read.
void WriteBloomsTable(const std::string& directory) {
  constexpr std::uint64_t kWords = 50'000;
  constexpr std::uint64_t kPrinted[] = {72'800, 145'600, 218'400, 291'200, 364'000, 509'800};
  auto file = fmt::output_file(directory + "/bloom_table.txt");
  file.print("{:>6} {:>14} {:>14} {:>14} {:>8} {:>18}\n", "P", "printed bits", "exact classic", "k",
             "saved %", "");
  for (int i = 1; i <= 6; ++i) {
    const double allowed = std::ldexp(1.0, -i);
    const auto size = SmallestFilter(FilterKind::kClassic, kWords, allowed);
    const std::uint64_t printed = kPrinted[i - 1];
    const bool misprint = printed != std::uint64_t{72'800} * static_cast<std::uint64_t>(i);
    file.print("{:>6} {:>14} {:>14} {:>14} {:>8.2f} {:>18}\n", fmt::format("1/{}", 1 << i), printed,
               size->bits, size->probes, 90.0 * (1.0 - allowed),
               misprint ? fmt::format("misprint: {}", 72'800 * i) : "");
  }
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: analysis_data DIRECTORY PRINTED_RATES_CSV\n");
    return 2;
  }
  try {
    const std::string directory = argv[1];
    exactbloom::WriteProbeMap(directory);
    exactbloom::WriteCost(directory);
    exactbloom::WriteEfficiency(directory);
    exactbloom::WriteDesigns(directory, "designs.dat", 1'000'000);
    exactbloom::WriteDesigns(directory, "designs_small.dat", 24);
    exactbloom::WritePrintedRates(directory, argv[2]);
    exactbloom::WriteBloomsTable(directory);
  } catch (const std::exception& error) {
    fmt::print(stderr, "analysis_data: {}\n", error.what());
    return 2;
  }
  return 0;
}
