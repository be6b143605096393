// Two passes for lines = 1 and 2. All lines of a key lie within one range, so its hash is its only
// entry: hardly any more memory is allocated, and each range is filled just once.
#include <algorithm>
#include <new>
#include <utility>

#include "array_builder.h"
#include "block_format.h"
#include "kernels/code_word.h"
#include "kernels/kernel_table.h"
#include "kernels/line_fields.h"
#include "range_buckets.h"

namespace exactbloom::filter {
namespace {

using Buckets = RangeBuckets<std::uint64_t>;

class LineRanges {
 public:
  // Throws std::bad_alloc.
  LineRanges(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : array_(array),
        filter_(filter),
        kernel_(KernelFor(filter)),
        line_count_(filter.bits / kLineBits),
        range_count_(std::max<std::uint64_t>(1, ArrayBytes(filter.bits) >> kRangeBytesLog2)),
        buckets_(range_count_, keys) {}

  void Distribute(const std::uint64_t* hashes, std::size_t count) {
    constexpr int kRangeLinesLog2 = kRangeBytesLog2 - 6;
    static_assert(std::size_t{1} << kRangeLinesLog2 ==
                  (std::size_t{1} << kRangeBytesLog2) / kLineBytes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t line = FirstLine(hashes[i], line_count_);
      Add(std::min<std::size_t>(line >> kRangeLinesLog2, range_count_ - 1), hashes[i]);
    }
  }

  void Recycle(Buckets::Memory memory, std::size_t capacity) {
    buckets_.Recycle(std::move(memory), capacity);
  }

  // The second pass over what has been distributed so far. The first one also clears the array.
  void Fill() {
    for (std::size_t range = 0; range < range_count_; ++range) FillRange(range);
    is_cleared_ = true;
  }

 private:
  void Add(std::size_t range, std::uint64_t hash) {
    if (buckets_.Add(range, hash)) return;
    Fill();
    buckets_.Add(range, hash);
  }

  void FillRange(std::size_t range) {
    unsigned char* begin = array_ + (range << kRangeBytesLog2);
    unsigned char* end = range + 1 == range_count_ ? array_ + ArrayBytes(filter_.bits)
                                                   : begin + (std::size_t{1} << kRangeBytesLog2);
    PrepareRange(begin, end, is_cleared_);
    buckets_.Consume(range, [this](const std::uint64_t* hashes, std::size_t count) {
      kernel_.add(array_, filter_, hashes, count);
    });
  }

  unsigned char* array_;
  const FilterDescription& filter_;
  const Kernel& kernel_;
  std::uint64_t line_count_;
  std::size_t range_count_;
  Buckets buckets_;
  bool is_cleared_ = false;
};

}  // namespace

bool BuildLinesByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  try {
    LineRanges ranges(array, filter, hashes.size());
    hashes.Consume(
        [&](const std::uint64_t* chunk, std::size_t count) { ranges.Distribute(chunk, count); },
        [&](Buckets::Memory chunk, std::size_t capacity) {
          ranges.Recycle(std::move(chunk), capacity);
        });
    ranges.Fill();
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // from the constructor only
  }
}

}  // namespace exactbloom::filter
