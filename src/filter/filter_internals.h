// Internal: what plugin/ and the tests need of filters besides exactbloom/bloom_filter.h. It is the
// only header of src/filter that plugin/ includes. It is not installed and may change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "builder_state.h"
#include "exactbloom/bloom_filter.h"
#include "kernels/code_word.h"
#include "kernels/kernel.h"
#include "kernels/key_hash.h"
#include "kernels/line_fields.h"

namespace exactbloom::filter {

struct FilterInternals {
  // BloomFilterView::MayContain for the keys key_at(0) .. key_at(count - 1), wherever they lie.
  template <typename KeyAt>
  static void MayContainKeys(const BloomFilterView& view, std::size_t count, KeyAt key_at,
                             bool* results);

  // Does what builder.AddKey(key) does if that is just to hash a short key and to keep the hash,
  // and returns true; returns false, with nothing done, if it is more. Never throws.
  __attribute__((flatten)) static bool AddKeyAtOnce(BloomFilterBuilder& builder,
                                                    std::string_view key) {
    return key.size() <= kShortKeyBytes &&
           builder.state_->AddAtOnce(HashKey(key, builder.options_.hash_seed));
  }

  // Returns builder.Plan(keys).BlockBytes(), without looking for k*: in some nanoseconds, unless
  // filters are sized by their rate, which takes evaluations of the exact rate, up to some
  // milliseconds. Throws std::bad_alloc when memory is short.
  static std::uint64_t BlockBytes(const BloomFilterBuilder& builder, std::uint64_t keys);
  static bool IsSizedByRate(const BloomFilterBuilder& builder);

  // For the next filter, unless filters are sized by their rate.
  //   bits_per_key   kMinBitsPerKey .. kMaxBitsPerKey
  static void SetBitsPerKey(BloomFilterBuilder& builder, double bits_per_key);

  // The hashes that a builder keeps, for tests that damage them. Moving the builder does not move
  // them.
  static HashStore& HashesOf(BloomFilterBuilder& builder);

 private:
  // The fewest keys that are answered together: in filters beyond the caches that is faster from
  // six to eight keys on, and in small ones hardly slower (docs/performance.md). A MultiGet gives
  // the filter of each table the keys that it may hold, and where there are many tables, that is a
  // few keys.
  static constexpr std::size_t kFewestInBatch = 8;
};

template <typename KeyAt>
void FilterInternals::MayContainKeys(const BloomFilterView& view, std::size_t count, KeyAt key_at,
                                     bool* results) {
  if (view.status_ != BlockStatus::kUsable) {
    std::fill_n(results, count, true);
    return;
  }
  if (count < kFewestInBatch) {
    for (std::size_t i = 0; i < count; ++i) results[i] = view.MayContain(key_at(i));
    return;
  }
  const FilterDescription& description = view.filter_.description;
  KeyBatch keys;
  std::array<std::uint64_t, kBatchKeys> hashes;
  for (std::size_t begin = 0; begin < count; begin += kBatchKeys) {
    const std::size_t batch = std::min(count - begin, kBatchKeys);
    for (std::size_t i = 0; i < batch; ++i) {
      const std::string_view key = key_at(begin + i);
      keys.data[i] = key.data();
      keys.sizes[i] = key.size();
    }
    view.hash_keys_(keys, batch, description.hash_seed, hashes.data());
    view.may_contain_batch_(view.filter_.array, description, hashes.data(), batch, results + begin);
  }
}

}  // namespace exactbloom::filter
