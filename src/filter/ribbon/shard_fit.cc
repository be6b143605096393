#include "shard_fit.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace exactbloom::filter {
namespace {

// A bucket starts so many slots before the place that its keys need: rows reach 63 slots on, so a
// solver meets more free slots behind than it would before.
constexpr std::int64_t kLag = 8;

// Behind the last start there are 63 more slots. The last keys use them if the starts before the
// end are closer together than the keys.
constexpr std::int64_t kSlotsPerKeyAtEnd = 963;  // of 1024
constexpr int kEndShift = 10;

constexpr int kRatioShift = 16;

// The places are whole numbers in fixed point, so that all processors make the same.
class Places {
 public:
  Places(std::int64_t keys, std::int64_t slots)
      : keys_(keys),
        end_(slots - (kRowBits - 1)),
        slots_per_key_((std::max<std::int64_t>(slots - kSpareSlots, 0) << kRatioShift) /
                       std::max<std::int64_t>(keys, 1)) {}

  std::int64_t end() const { return end_; }

  // Where a bucket should start, given the number of keys before it.
  std::int64_t StartAfter(std::int64_t keys_before) const {
    const std::int64_t from_begin = (keys_before * slots_per_key_ >> kRatioShift) - kLag;
    const std::int64_t from_end = end_ - ((keys_ - keys_before) * kSlotsPerKeyAtEnd >> kEndShift);
    return std::min({from_begin, from_end, end_ - 1});
  }

 private:
  std::int64_t keys_;
  std::int64_t end_;
  std::int64_t slots_per_key_;
};

}  // namespace

ShardFit FitStarts(const std::uint32_t* counts, std::uint32_t buckets, std::uint32_t slots) {
  using Deviation = std::numeric_limits<signed char>;
  const Places places(std::accumulate(counts, counts + buckets, std::int64_t{0}), slots);
  const auto end = static_cast<std::uint32_t>(places.end());
  const std::uint64_t scale = EvenScale(end, InverseOfBuckets(buckets));
  ShardFit fit;
  fit.starts[0] = 0;
  fit.deviations[0] = 0;
  fit.starts[buckets] = EvenStart(buckets, scale);
  fit.deviations[buckets] = 0;
  std::int64_t keys_before = 0;
  for (std::uint32_t b = 1; b < buckets; ++b) {
    keys_before += counts[b - 1];
    const std::int64_t even = EvenStart(b, scale);
    const std::int64_t wanted =
        std::max<std::int64_t>(places.StartAfter(keys_before), fit.starts[b - 1]);
    const std::int64_t deviation =
        std::clamp<std::int64_t>((wanted - even + 1) >> 1, Deviation::min(), Deviation::max());
    fit.deviations[b] = static_cast<signed char>(deviation);
    fit.starts[b] = static_cast<std::int32_t>(even + kStartStep * deviation);
  }
  const bool is_sorted = std::is_sorted(fit.starts.begin(), fit.starts.begin() + buckets + 1);
  // Rounding to a step may begin a last bucket of a key or two at the end, which is no start slot.
  if (is_sorted && fit.starts[buckets - 1] < places.end()) return fit;
  // Counts that no bytes describe. The shard will hardly be solved, and then has another seed.
  for (std::uint32_t b = 0; b <= buckets; ++b) {
    fit.deviations[b] = 0;
    fit.starts[b] = EvenStart(b, scale);
  }
  return fit;
}

}  // namespace exactbloom::filter
