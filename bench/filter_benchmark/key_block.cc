#include "key_block.h"

#include <cstring>

#include "readamp/keys/synthetic_key.h"
#include "src/filter/kernels/code_word.h"

namespace exactbloom::filter_benchmark {

using readamp::SplitMix;

KeyBlock::KeyBlock(std::size_t capacity)
    : bytes_(capacity), slices_(capacity), pointers_(capacity) {
  for (std::size_t i = 0; i < capacity; ++i) {
    slices_[i] = rocksdb::Slice(bytes_[i].data(), kKeyBytes);
    pointers_[i] = &slices_[i];
  }
}

void KeyBlock::Set(std::size_t i, std::uint64_t number) {
  const std::array<std::uint64_t, 2> words = {SplitMix::Mix(number), number};
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
    Set(i, 2 * filter::MultiplyHigh(SplitMix::Mix(sample * size_ + i + 1), keys));
  }
}

void KeyBlock::FillAbsent(std::uint64_t block) {
  size_ = bytes_.size();
  for (std::size_t i = 0; i < size_; ++i) Set(i, 2 * (block * size_ + i) + 1);
}

}  // namespace exactbloom::filter_benchmark
