// Two passes for lines = 0. An entry is a position, relative to its range; a key has several, so
// the keys are distributed in slices, each followed by a second pass.
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "array_builder.h"
#include "block_format.h"
#include "kernels/code_word.h"
#include "kernels/kernel_table.h"
#include "kernels/line_fields.h"

namespace exactbloom::filter {
namespace {

constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << kRangeBytesLog2;

// The positions of each range, relative to it. The last range takes what remains of the array, so
// up to twice as much as the others.
class Ranges {
 public:
  using Entry = std::uint32_t;

  Ranges(std::uint64_t array_bytes, std::size_t scratch_bytes)
      : count_(std::max<std::uint64_t>(1, array_bytes / kRangeBytes)),
        capacity_(scratch_bytes / sizeof(Entry) / (count_ + 1)),
        entries_(capacity_ == 0 ? nullptr : new (std::nothrow) Entry[capacity_ * (count_ + 1)]),
        sizes_(count_) {}

  bool IsUsable() const { return entries_ != nullptr; }
  std::size_t Count() const { return count_; }

  // The range of a byte of the array.
  std::size_t RangeOf(std::uint64_t byte) const {
    return std::min<std::size_t>(byte >> kRangeBytesLog2, count_ - 1);
  }

  // Returns false, and adds nothing, if the range is full.
  bool Add(std::size_t range, Entry entry) {
    std::size_t& size = sizes_[range];
    if (size == Capacity(range)) return false;
    entries_[range * capacity_ + size++] = entry;
    return true;
  }

  const Entry* Entries(std::size_t range) const { return &entries_[range * capacity_]; }
  std::size_t Size(std::size_t range) const { return sizes_[range]; }
  void Clear() { std::fill(sizes_.begin(), sizes_.end(), 0); }

 private:
  std::size_t Capacity(std::size_t range) const {
    return range + 1 == count_ ? 2 * capacity_ : capacity_;
  }

  std::size_t count_;
  std::size_t capacity_;
  std::unique_ptr<Entry[]> entries_;
  std::vector<std::size_t> sizes_;
};

class DrawRangeBuilder {
 public:
  DrawRangeBuilder(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : array_(array),
        filter_(filter),
        kernel_(KernelFor(filter)),
        ranges_(ArrayBytes(filter.bits), keys * kScratchBytesPerKey) {}

  bool IsUsable() const { return ranges_.IsUsable(); }

  void Distribute(const std::uint64_t* hashes, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLocateKeys) {
      const std::size_t keys = std::min(count - i, kLocateKeys);
      kernel_.locate(filter_, hashes + i, keys, positions_.data());
      for (std::size_t p = 0; p < keys * static_cast<std::size_t>(filter_.probes); ++p) {
        Add(positions_[p]);
      }
    }
  }

  // The second pass over what has been distributed so far. The first one also clears the array.
  void Fill() {
    for (std::size_t range = 0; range < ranges_.Count(); ++range) FillRange(range);
    is_cleared_ = true;
    ranges_.Clear();
  }

 private:
  void Add(std::uint64_t position) {
    const std::size_t range = ranges_.RangeOf(position / 8);
    const auto entry = static_cast<Ranges::Entry>(position - range * kRangeBytes * 8);
    if (ranges_.Add(range, entry)) return;
    Fill();
    ranges_.Add(range, entry);
  }

  void FillRange(std::size_t range) {
    const std::uint64_t bytes =
        range + 1 == ranges_.Count() ? ArrayBytes(filter_.bits) - range * kRangeBytes : kRangeBytes;
    unsigned char* begin = array_ + range * kRangeBytes;
    if (is_cleared_ && ranges_.Size(range) == 0) return;
    PrepareRange(begin, begin + bytes, is_cleared_);
    const Ranges::Entry* entries = ranges_.Entries(range);
    for (std::size_t i = 0; i < ranges_.Size(range); ++i) SetBit(begin, entries[i]);
  }

  unsigned char* array_;
  const FilterDescription& filter_;
  const Kernel& kernel_;
  Ranges ranges_;
  LocatedPositions positions_;
  bool is_cleared_ = false;
};

}  // namespace

bool BuildDrawsByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  try {
    DrawRangeBuilder builder(array, filter, hashes.size());
    if (!builder.IsUsable()) return false;
    hashes.Consume(
        [&](const std::uint64_t* chunk, std::size_t count) { builder.Distribute(chunk, count); });
    builder.Fill();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace exactbloom::filter
