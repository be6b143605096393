#include "bits_reader.h"

#include <rocksdb/slice.h>

#include <cstddef>
#include <new>
#include <string_view>

#include "../src/filter/filter_internals.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;

std::string_view View(const Slice& slice) { return {slice.data(), slice.size()}; }

class BitsReader : public rocksdb::FilterBitsReader {
 public:
  explicit BitsReader(const BloomFilterView& view) : view_(view) {}

  bool MayMatch(const Slice& key) override { return view_.MayContain(View(key)); }

  void MayMatch(int count, Slice** keys, bool* may_match) override {
    filter::FilterInternals::MayContainKeys(
        view_, static_cast<std::size_t>(count), [keys](std::size_t i) { return View(*keys[i]); },
        may_match);
  }

 private:
  BloomFilterView view_;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsReader> NewBitsReader(const BloomFilterView& view) {
  return std::unique_ptr<rocksdb::FilterBitsReader>(new (std::nothrow) BitsReader(view));
}

}  // namespace exactbloom
