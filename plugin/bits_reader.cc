#include "bits_reader.h"

#include <rocksdb/slice.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "exactbloom/filter.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;

std::string_view KeyView(const Slice& slice) { return {slice.data(), slice.size()}; }

class BitsReader : public rocksdb::FilterBitsReader {
 public:
  explicit BitsReader(const FilterView& view) : view_(view) {}

  bool MayMatch(const Slice& key) override { return view_.MayContain(KeyView(key)); }

  void MayMatch(int count, Slice** keys, bool* may_match) override {
    std::array<std::string_view, kKeysAtOnce> views;
    const auto all = static_cast<std::size_t>(count);
    for (std::size_t begin = 0; begin < all; begin += kKeysAtOnce) {
      const std::size_t size = std::min(all - begin, kKeysAtOnce);
      for (std::size_t i = 0; i < size; ++i) views[i] = KeyView(*keys[begin + i]);
      view_.MayContain(views.data(), size, may_match + begin);
    }
  }

 private:
  // As many as a MultiGet asks for at once, and as the view answers at once.
  static constexpr std::size_t kKeysAtOnce = 32;

  FilterView view_;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsReader> NewBitsReader(std::string_view block) {
  const FilterView view(block);
  if (view.Status() == BlockStatus::kForeign) return nullptr;
  return std::make_unique<BitsReader>(view);
}

}  // namespace exactbloom
