// Keys that a filter is asked for at once.
#pragma once

#include <rocksdb/slice.h>

#include <array>
#include <cstddef>
#include <string>

#include "plugin/filter_bits_interface.h"

namespace exactbloom::tool {

class KeyBatch {
 public:
  static constexpr std::size_t kCapacity = 32;  // as many as RocksDB asks for at once

  bool IsEmpty() const { return size_ == 0; }
  bool IsFull() const { return size_ == kCapacity; }
  std::size_t Size() const { return size_; }

  rocksdb::Slice operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

  // Copies a key. The batch must not be full.
  void Add(const rocksdb::Slice& key) {
    bytes_.append(key.data(), key.size());
    ends_[size_++] = bytes_.size();
  }

  void Clear() {
    bytes_.clear();
    size_ = 0;
  }

  // Whether each key may match: one answer per key, valid until the next call.
  const bool* Ask(rocksdb::FilterBitsReader& filter) {
    for (std::size_t i = 0; i < size_; ++i) {
      slices_[i] = (*this)[i];
      pointers_[i] = &slices_[i];
    }
    filter.MayMatch(static_cast<int>(size_), pointers_.data(), answers_.data());
    return answers_.data();
  }

 private:
  std::string bytes_;
  std::size_t size_ = 0;
  std::array<std::size_t, kCapacity> ends_{};
  std::array<rocksdb::Slice, kCapacity> slices_;
  std::array<rocksdb::Slice*, kCapacity> pointers_{};
  std::array<bool, kCapacity> answers_{};
};

}  // namespace exactbloom::tool
