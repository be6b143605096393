#include <algorithm>
#include <array>
#include <bitset>
#include <limits>
#include <new>
#include <type_traits>

#include "block_format.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "kernels/kernel.h"
#include "kernels/ribbon_kernel.h"
#include "ribbon/ribbon_format.h"

namespace exactbloom {
namespace {

using filter::PreparedFilter;
using filter::PreparedRibbon;

// The fewest keys that are answered together: in Bloom filters beyond the caches that is faster
// from six to eight keys on, and in small ones hardly slower (docs/benchmarks.md). A MultiGet gives
// the filter of each table the keys that it may hold, and where there are many tables, that is a
// few keys.
constexpr std::size_t kFewestInBloomBatch = 8;
constexpr std::size_t kFewestInRibbonBatch = 4;

// The answers of blocks without an array: of those that are not usable, and of Ribbon filters
// without shards.
bool AlwaysContained(const void* /*prepared*/, std::string_view /*key*/) { return true; }
bool NeverContained(const void* /*prepared*/, std::string_view /*key*/) { return false; }

template <typename Prepared>
const Prepared& As(const void* prepared) {
  return *std::launder(static_cast<const Prepared*>(prepared));
}

void TestBloomHashes(const void* prepared, const std::uint64_t* hashes, std::size_t count,
                     bool* results) {
  const auto& filter = As<PreparedFilter>(prepared);
  filter.kernel->may_contain_batch(filter.array, filter.description, hashes, count, results);
}

void TestRibbonHashes(const void* prepared, const std::uint64_t* hashes, std::size_t count,
                      bool* results) {
  filter::RibbonKernelInUse().may_contain_batch(As<PreparedRibbon>(prepared), hashes, count,
                                                results);
}

FilterDescription Describe(const filter::BloomDescription& bloom) {
  FilterDescription description;
  description.kind =
      bloom.kind == BloomKind::kStandard ? FilterKind::kStandardBloom : FilterKind::kClassicBloom;
  description.keys = bloom.keys;
  description.hash_seed = bloom.hash_seed;
  description.bits = bloom.bits;
  description.probes = bloom.probes;
  return description;
}

}  // namespace

FilterView::FilterView(std::string_view block)
    : may_contain_(AlwaysContained),
      test_hashes_(nullptr),
      fewest_in_batch_(std::numeric_limits<std::size_t>::max()),
      block_(block) {
  static_assert(sizeof(PreparedFilter) <= sizeof prepared_);
  static_assert(sizeof(PreparedRibbon) <= sizeof prepared_);
  static_assert(alignof(PreparedFilter) == alignof(decltype(prepared_)));
  static_assert(alignof(PreparedRibbon) == alignof(decltype(prepared_)));
  static_assert(std::is_trivially_copyable_v<PreparedFilter>);
  static_assert(std::is_trivially_copyable_v<PreparedRibbon>);
  const filter::DecodedTrailer trailer = filter::DecodeTrailer(block);
  if (trailer.IsRibbon()) {
    const filter::DecodedRibbon ribbon = filter::DecodeRibbon(trailer, block);
    status_ = ribbon.status;
    if (status_ != BlockStatus::kUsable) return;
    description_ = filter::Describe(ribbon.shape, ribbon.keys, ribbon.hash_seed);
    if (ribbon.shape.shards == 0) {
      if (ribbon.shape.columns == filter::kNonePassColumns) may_contain_ = NeverContained;
      return;
    }
    new (prepared_.bytes) PreparedRibbon(filter::PrepareRibbon(ribbon, block));
    may_contain_ = filter::RibbonKernelInUse().may_contain;
    test_hashes_ = TestRibbonHashes;
    fewest_in_batch_ = kFewestInRibbonBatch;
    return;
  }
  const filter::DecodedBloom bloom = filter::DecodeBloom(trailer, block);
  status_ = bloom.status;
  if (status_ != BlockStatus::kUsable) return;
  description_ = Describe(bloom.description);
  const auto* prepared =
      new (prepared_.bytes) PreparedFilter(filter::Prepare(bloom.array, bloom.description));
  may_contain_ = prepared->kernel->may_contain;
  test_hashes_ = TestBloomHashes;
  fewest_in_batch_ = kFewestInBloomBatch;
}

void FilterView::MayContain(const std::string_view* keys, std::size_t count, bool* results) const {
  if (count < fewest_in_batch_) {
    for (std::size_t i = 0; i < count; ++i) results[i] = MayContain(keys[i]);
    return;
  }
  const filter::HashKeysFunction hash_keys = filter::HashKeysInUse();
  filter::KeyBatch batch;
  std::array<std::uint64_t, filter::kBatchKeys> hashes;
  for (std::size_t begin = 0; begin < count; begin += filter::kBatchKeys) {
    const std::size_t size = std::min(count - begin, filter::kBatchKeys);
    for (std::size_t i = 0; i < size; ++i) {
      batch.data[i] = keys[begin + i].data();
      batch.sizes[i] = keys[begin + i].size();
    }
    hash_keys(batch, size, description_.hash_seed, hashes.data());
    test_hashes_(&prepared_, hashes.data(), size, results + begin);
  }
}

double FilterView::FalsePositiveRate() const {
  if (status_ != BlockStatus::kUsable) return 1.0;
  if (Kind() != FilterKind::kRibbon) {
    return exactbloom::FalsePositiveRate(ToBloomKind(Kind()), description_.bits, description_.keys,
                                         description_.probes);
  }
  const filter::RibbonShape shape = filter::ToShape(description_);
  return filter::ExactRate(
      shape, reinterpret_cast<const unsigned char*>(block_.data()) + shape.ColumnBytes());
}

std::uint64_t FilterView::CountOnes() const {
  if (status_ != BlockStatus::kUsable || Kind() == FilterKind::kRibbon) return 0;
  std::uint64_t ones = 0;
  for (const char byte : block_.substr(0, static_cast<std::size_t>(description_.bits / 8))) {
    ones += std::bitset<8>(static_cast<unsigned char>(byte)).count();
  }
  return ones;
}

}  // namespace exactbloom
