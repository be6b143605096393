#include "memory_fit.h"

#if __has_include(<malloc_np.h>)
#include <malloc_np.h>
#define EXACTBLOOM_HAS_USABLE_SIZE 1
#elif __has_include(<malloc.h>) && defined(__unix__)
#include <malloc.h>
#define EXACTBLOOM_HAS_USABLE_SIZE 1
#endif

#include <memory>
#include <new>

#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

// RocksDB reads a block together with its type and checksum, into one piece of memory.
constexpr std::size_t kBytesBehindBlock = 5;

// Sizes stay within these factors of the intended one; beyond them the waste costs less.
constexpr double kLeastFactor = 3.0 / 4;
constexpr double kMostFactor = 4.0 / 3;

// The memory lost behind the end of a smaller block is negligible.
constexpr std::size_t kLeastBlockBytes = 1024;

// How finely classes are distinguished: a fraction of the block.
constexpr std::size_t kClassesPerBlock = 1024;

// The rate in a microsecond: of Bloom filters by equation (58), whose error hardly depends on the
// size.
double RoughRate(const FilterPlan& plan) {
  const FilterDescription& filter = plan.Description();
  return plan.Kind() == FilterKind::kRibbon
             ? plan.FalsePositiveRate()
             : AsymptoticFalsePositiveRate(filter.bits, filter.keys, filter.probes);
}

}  // namespace

std::size_t MallocUsableBytes(std::size_t bytes) {
#ifdef EXACTBLOOM_HAS_USABLE_SIZE
  const std::unique_ptr<char[]> memory(new (std::nothrow) char[bytes]);
  return memory == nullptr ? bytes : malloc_usable_size(memory.get());
#else
  return bytes;
#endif
}

FilterPlan MemoryFit::Fit(const FilterBuilder& builder, const FilterPlan& meant) {
  if (meant.BlockBytes() < kLeastBlockBytes) return meant;
  const std::size_t requested = meant.BlockBytes() + kBytesBehindBlock;
  const std::size_t above = usable_bytes_(requested);
  const bool is_plausible = above > requested && static_cast<double>(above) <=
                                                     kMostFactor * static_cast<double>(requested);
  if (!is_plausible) return meant;

  const std::uint64_t keys = meant.Description().keys;
  const auto excess_of = [target = RoughRate(meant)](const FilterPlan& plan) {
    return RoughRate(plan) / target - 1.0;
  };
  const std::size_t below = ClassBelow(requested);
  if (below != 0) {
    const auto smaller = builder.PlanWithin(keys, below - kBytesBehindBlock);
    if (smaller && Spend(keys, excess_of(*smaller))) return *smaller;
  }
  const auto larger = builder.PlanWithin(keys, above - kBytesBehindBlock);
  if (!larger) return meant;
  Spend(keys, excess_of(*larger));
  return *larger;
}

// The largest class below a request, 0 if there is none within the limits. Allocators round up, so
// the classes of smaller requests are found by bisection.
std::size_t MemoryFit::ClassBelow(std::size_t bytes) const {
  auto least = static_cast<std::size_t>(kLeastFactor * static_cast<double>(bytes));
  std::size_t found = usable_bytes_(least);
  if (found >= bytes) return 0;
  std::size_t too_large = bytes;
  while (found + bytes / kClassesPerBlock + 1 < too_large) {
    const std::size_t middle = found + (too_large - found) / 2;
    const std::size_t usable = usable_bytes_(middle);
    if (usable < bytes) {
      found = usable;
    } else {
      too_large = middle;
    }
  }
  return found;
}

bool MemoryFit::Spend(std::uint64_t keys, double excess) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double of_keys = static_cast<double>(keys) * excess;
  const bool is_positive = of_filters_ + excess > 0 || of_keys_ + of_keys > 0;
  if (excess > 0 && is_positive) return false;
  of_filters_ += excess;
  of_keys_ += of_keys;
  return true;
}

}  // namespace exactbloom
