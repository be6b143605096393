#include "bits_reader.h"

#include <rocksdb/slice.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace exactbloom {
namespace {

using rocksdb::Slice;

std::string_view View(const Slice& slice) { return {slice.data(), slice.size()}; }

class BitsReader : public rocksdb::FilterBitsReader {
 public:
  explicit BitsReader(const BloomFilterView& view) : view_(view) {}

  bool MayMatch(const Slice& key) override { return view_.MayContain(View(key)); }

  void MayMatch(int count, Slice** keys, bool* may_match) override {
    // RocksDB asks for up to 32 keys; more come in groups of as many.
    std::array<std::string_view, 32> views;
    const auto most = static_cast<int>(views.size());
    for (; count > 0; count -= most, keys += most, may_match += most) {
      const int group = std::min(count, most);
      std::transform(keys, keys + group, views.begin(),
                     [](const Slice* key) { return View(*key); });
      view_.MayContain(views.data(), static_cast<std::size_t>(group), may_match);
    }
  }

 private:
  BloomFilterView view_;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsReader> NewBitsReader(const BloomFilterView& view) {
  return std::make_unique<BitsReader>(view);
}

}  // namespace exactbloom
