// Draws keys that a table most likely lacks, to ask its filter for.
#pragma once

#include <rocksdb/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>

namespace exactbloom::tool {

class AbsentKeys {
 public:
  // Spreads `count` keys over a table of `present` keys. Equal seeds draw equal keys.
  AbsentKeys(std::uint64_t count, std::uint64_t present, std::uint64_t seed);

  // To be called for each present key. Returns whether absent keys are due at it.
  bool AreDue() { return ++seen_ >= due_; }

  // Calls `use` for these: alternately the present key with one byte changed, and random bytes of
  // its length. Some may be present after all.
  void Draw(const rocksdb::Slice& present, const std::function<void(const rocksdb::Slice&)>& use);

  // Whether this is called with these bytes for the first time: asking for a key again gives no
  // information.
  bool IsNew(const rocksdb::Slice& key) {
    return used_.insert(std::hash<std::string_view>{}({key.data(), key.size()})).second;
  }

 private:
  void Change(std::string* key);
  void SetDue();

  std::uint64_t count_;
  double distance_;  // from one to the next, in present keys
  std::uint64_t seen_ = 0;
  std::uint64_t drawn_ = 0;
  std::uint64_t due_ = 0;  // the number of present keys at which the next is drawn
  std::mt19937_64 random_;
  std::unordered_set<std::size_t> used_;
};

}  // namespace exactbloom::tool
