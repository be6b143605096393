#include <algorithm>
#include <array>
#include <bitset>
#include <new>
#include <type_traits>

#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "kernels/kernel.h"

namespace exactbloom {
namespace {

// The fewest keys that are answered together: in filters beyond the caches that is faster from
// six to eight keys on, and in small ones hardly slower (docs/benchmarks.md). A MultiGet gives
// the filter of each table the keys that it may hold, and where there are many tables, that is a
// few keys.
constexpr std::size_t kFewestInBatch = 8;

// The answer of a block that is not usable.
bool AlwaysContained(const void* /*prepared*/, std::string_view /*key*/) { return true; }

}  // namespace

BloomFilterView::BloomFilterView(std::string_view block) {
  static_assert(sizeof(filter::PreparedFilter) == sizeof prepared_);
  static_assert(alignof(filter::PreparedFilter) == alignof(decltype(prepared_)));
  static_assert(std::is_trivially_copyable_v<filter::PreparedFilter>);
  const filter::DecodedBlock decoded = filter::DecodeBlock(block);
  status_ = decoded.status;
  may_contain_ = AlwaysContained;
  auto* prepared = new (prepared_.bytes) filter::PreparedFilter;
  if (status_ != BlockStatus::kUsable) return;
  *prepared = filter::Prepare(decoded.array, decoded.description);
  may_contain_ = prepared->kernel->may_contain;
}

const filter::PreparedFilter& BloomFilterView::Prepared() const {
  return *std::launder(reinterpret_cast<const filter::PreparedFilter*>(prepared_.bytes));
}

const FilterDescription& BloomFilterView::Description() const { return Prepared().description; }

void BloomFilterView::MayContain(const std::string_view* keys, std::size_t count,
                                 bool* results) const {
  if (status_ != BlockStatus::kUsable) {
    std::fill_n(results, count, true);
    return;
  }
  if (count < kFewestInBatch) {
    for (std::size_t i = 0; i < count; ++i) results[i] = MayContain(keys[i]);
    return;
  }
  const filter::PreparedFilter& filter = Prepared();
  filter::KeyBatch batch;
  std::array<std::uint64_t, filter::kBatchKeys> hashes;
  for (std::size_t begin = 0; begin < count; begin += filter::kBatchKeys) {
    const std::size_t size = std::min(count - begin, filter::kBatchKeys);
    for (std::size_t i = 0; i < size; ++i) {
      batch.data[i] = keys[begin + i].data();
      batch.sizes[i] = keys[begin + i].size();
    }
    filter.hash_keys(batch, size, filter.description.hash_seed, hashes.data());
    filter.kernel->may_contain_batch(filter.array, filter.description, hashes.data(), size,
                                     results + begin);
  }
}

std::uint64_t BloomFilterView::CountOnes() const {
  if (status_ != BlockStatus::kUsable) return 0;
  const filter::PreparedFilter& filter = Prepared();
  const std::uint64_t bytes = filter.description.bits / 8;
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) ones += std::bitset<8>(filter.array[i]).count();
  return ones;
}

}  // namespace exactbloom
