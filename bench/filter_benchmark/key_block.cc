#include "key_block.h"

#include <cstring>

#include "filter/kernels/code_word.h"

namespace exactbloom::filter_benchmark {
namespace {

// The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit numbers.
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

KeyBlock::KeyBlock(std::size_t capacity)
    : bytes_(capacity), slices_(capacity), pointers_(capacity) {
  for (std::size_t i = 0; i < capacity; ++i) {
    slices_[i] = rocksdb::Slice(bytes_[i].data(), kKeyBytes);
    pointers_[i] = &slices_[i];
  }
}

void KeyBlock::Set(std::size_t i, std::uint64_t number) {
  const std::array<std::uint64_t, 2> words = {Mix(number), number};
  static_assert(sizeof(words) == kKeyBytes);
  std::memcpy(bytes_[i].data(), words.data(), kKeyBytes);
}

void KeyBlock::FillPresent(std::uint64_t first, std::size_t count) {
  size_ = count;
  for (std::size_t i = 0; i < count; ++i) Set(i, 2 * (first + i));
}

void KeyBlock::FillSample(std::uint64_t sample, std::uint64_t keys) {
  size_ = bytes_.size();
  for (std::size_t i = 0; i < size_; ++i) {
    Set(i, 2 * filter::MultiplyHigh(Mix(sample * size_ + i + 1), keys));
  }
}

void KeyBlock::FillAbsent(std::uint64_t block) {
  size_ = bytes_.size();
  for (std::size_t i = 0; i < size_; ++i) Set(i, 2 * (block * size_ + i) + 1);
}

}  // namespace exactbloom::filter_benchmark
