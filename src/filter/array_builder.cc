#include "array_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "block_format.h"
#include "code_word.h"
#include "kernel_table.h"
#include "line_fields.h"

namespace exactbloom::filter {
namespace {

constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << kRangeBytesLog2;

// Collects entries by range. The last range takes what remains of the array, so up to twice as much
// as the others.
template <typename Entry>
class Ranges {
 public:
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

  // Returns false, and adds nothing, where the range is full.
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

// The two passes, for one kind of entry. `Words` says what the entries of a key are and sets their
// bits.
template <typename Words>
class RangeBuilder {
 public:
  using Entry = typename Words::Entry;

  RangeBuilder(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : array_(array),
        array_bytes_(ArrayBytes(filter.bits)),
        words_(filter),
        ranges_(array_bytes_, keys * kScratchBytesPerKey) {}

  bool IsUsable() const { return ranges_.IsUsable(); }

  void Build(HashStore& hashes) {
    hashes.Consume(
        [this](const std::uint64_t* chunk, std::size_t count) { Distribute(chunk, count); });
    Fill();
  }

 private:
  void Distribute(const std::uint64_t* hashes, std::size_t count) {
    words_.ForEachEntry(hashes, count, [this](std::uint64_t byte, auto entry_in) {
      const std::size_t range = ranges_.RangeOf(byte);
      const Entry entry = entry_in(range * kRangeBytes);
      if (ranges_.Add(range, entry)) return;
      Fill();
      ranges_.Add(range, entry);
    });
  }

  // The second pass over what has been distributed so far. The first one also clears the array.
  void Fill() {
    for (std::size_t range = 0; range < ranges_.Count(); ++range) {
      const std::uint64_t begin = range * kRangeBytes;
      const std::uint64_t end = range + 1 == ranges_.Count() ? array_bytes_ : begin + kRangeBytes;
      if (!is_cleared_) {
        std::memset(array_ + begin, 0, end - begin);
      } else if (ranges_.Size(range) != 0) {
        for (std::uint64_t byte = begin; byte < end; byte += kLineBytes) {
          __builtin_prefetch(array_ + byte, 1);
        }
      }
      words_.Set(array_, array_ + begin, ranges_.Entries(range), ranges_.Size(range));
    }
    is_cleared_ = true;
    ranges_.Clear();
  }

  unsigned char* array_;
  std::uint64_t array_bytes_;
  Words words_;
  Ranges<Entry> ranges_;
  bool is_cleared_ = false;
};

class LineWords {
 public:
  using Entry = std::uint64_t;

  explicit LineWords(const FilterDescription& filter)
      : filter_(filter), kernel_(KernelFor(filter)), line_count_(filter.bits / kLineBits) {}

  template <typename Take>
  void ForEachEntry(const std::uint64_t* hashes, std::size_t count, Take take) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t hash = hashes[i];
      take(FirstLine(hash, line_count_) * kLineBytes, [hash](std::uint64_t) { return hash; });
    }
  }

  void Set(unsigned char* array, unsigned char*, const Entry* hashes, std::size_t count) const {
    kernel_.add(array, filter_, hashes, count);
  }

 private:
  const FilterDescription& filter_;
  const Kernel& kernel_;
  std::uint64_t line_count_;
};

class DrawWords {
 public:
  using Entry = std::uint32_t;

  explicit DrawWords(const FilterDescription& filter)
      : filter_(filter), kernel_(KernelFor(filter)) {}

  template <typename Take>
  void ForEachEntry(const std::uint64_t* hashes, std::size_t count, Take take) {
    for (std::size_t i = 0; i < count; i += kLocateKeys) {
      const std::size_t keys = std::min(count - i, kLocateKeys);
      kernel_.locate(filter_, hashes + i, keys, positions_.data());
      for (std::size_t p = 0; p < keys * static_cast<std::size_t>(filter_.probes); ++p) {
        const std::uint64_t position = positions_[p];
        take(position / 8, [position](std::uint64_t range_begin) {
          return static_cast<Entry>(position - range_begin * 8);
        });
      }
    }
  }

  void Set(unsigned char*, unsigned char* range, const Entry* positions, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) SetBit(range, positions[i]);
  }

 private:
  const FilterDescription& filter_;
  const Kernel& kernel_;
  LocatedPositions positions_;
};

// Returns false, with nothing done, if there is no memory for the scratch.
template <typename Words>
bool TryBuildByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  try {
    RangeBuilder<Words> builder(array, filter, hashes.size());
    if (!builder.IsUsable()) return false;
    builder.Build(hashes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

void BuildArrayDirectly(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  std::memset(array, 0, static_cast<std::size_t>(ArrayBytes(filter.bits)));
  const Kernel& kernel = KernelFor(filter);
  hashes.Consume([&](const std::uint64_t* chunk, std::size_t count) {
    kernel.add(array, filter, chunk, count);
  });
}

void BuildArrayByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  const bool is_built = filter.layout.lines == 0
                            ? TryBuildByRange<DrawWords>(array, filter, hashes)
                            : TryBuildByRange<LineWords>(array, filter, hashes);
  if (!is_built) BuildArrayDirectly(array, filter, hashes);
}

void BuildArray(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  if (ArrayBytes(filter.bits) <= DirectArrayBytes(filter.layout.lines)) {
    BuildArrayDirectly(array, filter, hashes);
  } else {
    BuildArrayByRange(array, filter, hashes);
  }
}

}  // namespace exactbloom::filter
