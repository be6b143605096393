#include "absent_keys.h"

#include <limits>

namespace exactbloom::tool {

AbsentKeys::AbsentKeys(std::uint64_t count, std::uint64_t present, std::uint64_t seed)
    : count_(count),
      distance_(static_cast<double>(present) / static_cast<double>(count)),
      random_(seed) {
  SetDue();
}

void AbsentKeys::Change(std::string* key) {
  constexpr std::uint64_t kByteValues = 256;
  if (drawn_ % 2 == 0) {
    const std::uint64_t change = 1 + random_() % (kByteValues - 1);
    char& byte = (*key)[random_() % key->size()];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ change);
    return;
  }
  for (char& byte : *key) byte = static_cast<char>(random_() % kByteValues);
}

void AbsentKeys::SetDue() {
  due_ = drawn_ >= count_ ? std::numeric_limits<std::uint64_t>::max()
                          : static_cast<std::uint64_t>(static_cast<double>(drawn_) * distance_) + 1;
}

void AbsentKeys::Draw(const rocksdb::Slice& present,
                      const std::function<void(const rocksdb::Slice&)>& use) {
  for (; seen_ >= due_; SetDue()) {
    if (!present.empty()) {
      std::string key = present.ToString();
      Change(&key);
      use(key);
    }
    ++drawn_;
  }
}

}  // namespace exactbloom::tool
