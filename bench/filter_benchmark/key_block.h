// Keys to add and to look up, made outside the timed loops.
//
// A key is its number in bijectively mixed form, followed by the number itself. The keys of the
// filters and the ones they lack take numbers of different parity, so they differ without storing a
// set.
#pragma once

#include <rocksdb/slice.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace exactbloom::filter_benchmark {

inline constexpr std::size_t kKeyBytes = 16;

class KeyBlock {
 public:
  explicit KeyBlock(std::size_t capacity);
  KeyBlock(const KeyBlock&) = delete;
  KeyBlock& operator=(const KeyBlock&) = delete;

  // Keys first .. first + count - 1 of every filter that holds that many. `count` is at most the
  // capacity.
  void FillPresent(std::uint64_t first, std::size_t count);

  // As many keys as the capacity, drawn from the first `keys`, a different sample for each number.
  void FillSample(std::uint64_t sample, std::uint64_t keys);

  // As many keys as the capacity that no filter holds, different ones for each block number.
  void FillAbsent(std::uint64_t block);

  std::size_t size() const { return size_; }
  // Their bytes are contiguous.
  const rocksdb::Slice* slices() const { return slices_.data(); }
  rocksdb::Slice** pointers() { return pointers_.data(); }

 private:
  void Set(std::size_t i, std::uint64_t number);

  std::vector<std::array<char, kKeyBytes>> bytes_;
  std::vector<rocksdb::Slice> slices_;
  std::vector<rocksdb::Slice*> pointers_;
  std::size_t size_ = 0;
};

}  // namespace exactbloom::filter_benchmark
