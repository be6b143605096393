// Many keys asked at once: all are hashed, and their memory is fetched, before the first is tested.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "code_word.h"
#include "exactbloom/bloom_filter.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

namespace exactbloom::filter {

// A line of an unaligned array lies on two cache lines.
inline void FetchLine(const unsigned char* line) {
  __builtin_prefetch(line);
  __builtin_prefetch(line + kLineBytes - 1);
}

// Bit i becomes results[i]: eight bits at a time are spread over eight bytes.
inline void WriteResults(std::uint32_t hits, std::size_t count, bool* results) {
  constexpr std::uint64_t kOneInEachByte = 0x0101010101010101U;
  constexpr std::uint64_t kBitOfEachByte = 0x8040201008040201U;
  for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = (hits >> i & 0xff) * kOneInEachByte & kBitOfEachByte;
    const std::uint64_t bytes = (bits + 0x7f * kOneInEachByte) >> 7 & kOneInEachByte;
    std::memcpy(results + i, &bytes, std::min(count - i, sizeof bytes));
  }
}

// Hashes keys that are mostly short, and hands out each hash as take(hash).
template <typename KeyAt, typename Take>
__attribute__((flatten)) inline void HashKeys(std::size_t count, KeyAt key_at, std::uint64_t seed,
                                              std::uint64_t* hashes, Take take) {
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] = HashMostlyShortKey(key_at(i), seed);
    take(hashes[i]);
  }
}

// BloomFilterView::MayContain for the keys key_at(0) .. key_at(count - 1), wherever they lie.
template <typename KeyAt>
void MayContainKeys(const BloomFilterView& view, std::size_t count, KeyAt key_at, bool* results) {
  if (view.kernel_ == nullptr) {
    std::fill_n(results, count, true);
    return;
  }
  const unsigned char* array = view.array_;
  const std::uint64_t seed = view.description_.hash_seed;
  const std::uint64_t line_count = view.description_.bits / kLineBits;
  const bool fetches_lines = view.description_.layout.InLines();
  std::array<std::uint64_t, kBatchKeys> hashes;
  for (std::size_t begin = 0; begin < count; begin += kBatchKeys) {
    const std::size_t batch = std::min(count - begin, kBatchKeys);
    const auto key_of_batch = [&](std::size_t i) { return key_at(begin + i); };
    if (fetches_lines) {
      HashKeys(batch, key_of_batch, seed, hashes.data(), [&](std::uint64_t hash) {
        FetchLine(array + FirstLine(hash, line_count) * kLineBytes);
      });
    } else {
      HashKeys(batch, key_of_batch, seed, hashes.data(), [](std::uint64_t) {});
    }
    view.kernel_->may_contain_batch(array, view.description_, hashes.data(), batch,
                                    results + begin);
  }
}

}  // namespace exactbloom::filter
