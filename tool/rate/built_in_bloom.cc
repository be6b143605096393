#include "tool/rate/built_in_bloom.h"

#include "exactbloom/false_positive_rate.h"

namespace exactbloom::tool {
namespace {

// Measured by RocksDB's authors as the best ones.
int ProbesOf(std::uint64_t millibits_per_key) {
  constexpr std::uint64_t kMostMillibits[] = {2080,   3580,   5100,   6640,   8300,   10'070,
                                              11'720, 14'001, 16'050, 18'300, 22'001, 25'501};
  constexpr int kMostProbes = 24;
  int probes = 1;
  for (const std::uint64_t most : kMostMillibits) {
    if (millibits_per_key <= most) return probes;
    ++probes;
  }
  if (millibits_per_key > 50'000) return kMostProbes;
  return static_cast<int>((millibits_per_key - 1) / 2000) - 1;
}

}  // namespace

std::uint64_t BuiltInBloom::Bits() const { return lines * kCacheLineBits; }

std::uint64_t BuiltInBloom::BlockBytes() const {
  constexpr std::uint64_t kTrailerBytes = 5;
  return Bits() / 8 + kTrailerBytes;
}

BuiltInBloom BuiltInBloomOf(std::uint64_t keys, std::uint64_t millibits_per_key) {
  constexpr std::uint64_t kMillibitsOfLine = 1000 * kCacheLineBits;
  BuiltInBloom filter;
  filter.lines = (keys * millibits_per_key + kMillibitsOfLine - 1) / kMillibitsOfLine;
  if (filter.lines == 0) filter.lines = 1;
  filter.probes = ProbesOf(millibits_per_key);
  filter.rate = CacheLineFalsePositiveRate(filter.lines, keys, filter.probes);
  return filter;
}

}  // namespace exactbloom::tool
