#include "absent_keys.h"

#include <algorithm>

namespace exactbloom::tool {

void AbsentKeys::Change(std::string* key) {
  constexpr std::uint64_t kByteValues = 256;
  if (drawn_ % 2 == 0) {
    const std::uint64_t change = 1 + random_() % (kByteValues - 1);
    (*key)[random_() % key->size()] ^= static_cast<char>(change);
    return;
  }
  for (char& byte : *key) byte = static_cast<char>(random_() % kByteValues);
}

void AbsentKeys::DrawAt(const rocksdb::Slice& present,
                        const std::function<void(const rocksdb::Slice&)>& use) {
  seen_ = std::min(seen_ + 1, present_);
  // In floating point: the product may exceed 64 bits.
  const auto due =
      static_cast<std::uint64_t>(static_cast<double>(count_) * static_cast<double>(seen_) /
                                 static_cast<double>(std::max<std::uint64_t>(present_, 1)));
  if (drawn_ >= due) return;
  for (; drawn_ < due; ++drawn_) {
    if (present.empty()) continue;
    std::string key = present.ToString();
    Change(&key);
    use(key);
  }
}

}  // namespace exactbloom::tool
