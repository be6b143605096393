#include <algorithm>
#include <array>
#include <new>
#include <type_traits>

#include "exactbloom/ribbon_filter.h"
#include "ribbon_format.h"

namespace exactbloom {
namespace {

// The fewest keys that are answered together.
constexpr std::size_t kFewestInBatch = 4;

bool AlwaysContained(const void* /*prepared*/, std::string_view /*key*/) { return true; }
bool NeverContained(const void* /*prepared*/, std::string_view /*key*/) { return false; }

}  // namespace

RibbonFilterView::RibbonFilterView(std::string_view block) : block_(block) {
  static_assert(sizeof(filter::PreparedRibbon) <= sizeof prepared_);
  static_assert(alignof(filter::PreparedRibbon) == alignof(decltype(prepared_)));
  static_assert(std::is_trivially_copyable_v<filter::PreparedRibbon>);
  const filter::DecodedRibbon decoded = filter::DecodeRibbon(block);
  status_ = decoded.status;
  may_contain_ = AlwaysContained;
  auto* prepared = new (prepared_.bytes) filter::PreparedRibbon;
  if (status_ != BlockStatus::kUsable) return;
  description_ = filter::Describe(decoded.shape, decoded.keys, decoded.hash_seed);
  if (decoded.shape.shards != 0) {
    *prepared = filter::PrepareRibbon(decoded, block);
    may_contain_ = filter::RibbonKernelInUse().may_contain;
  } else if (decoded.shape.columns == filter::kNonePassColumns) {
    may_contain_ = NeverContained;
  }
}

void RibbonFilterView::MayContain(const std::string_view* keys, std::size_t count,
                                  bool* results) const {
  if (description_.shards == 0 || count < kFewestInBatch) {
    for (std::size_t i = 0; i < count; ++i) results[i] = MayContain(keys[i]);
    return;
  }
  const auto& filter =
      *std::launder(reinterpret_cast<const filter::PreparedRibbon*>(prepared_.bytes));
  const filter::RibbonKernel& kernel = filter::RibbonKernelInUse();
  filter::KeyBatch batch;
  std::array<std::uint64_t, filter::kBatchKeys> hashes;
  for (std::size_t begin = 0; begin < count; begin += filter::kBatchKeys) {
    const std::size_t size = std::min(count - begin, filter::kBatchKeys);
    for (std::size_t i = 0; i < size; ++i) {
      batch.data[i] = keys[begin + i].data();
      batch.sizes[i] = keys[begin + i].size();
    }
    filter::HashKeysInUse()(batch, size, filter.hash_seed, hashes.data());
    kernel.may_contain_batch(filter, hashes.data(), size, results + begin);
  }
}

double RibbonFilterView::FalsePositiveRate() const {
  if (status_ != BlockStatus::kUsable) return 1.0;
  const filter::DecodedRibbon decoded = filter::DecodeRibbon(block_);
  const auto* bytes = reinterpret_cast<const unsigned char*>(block_.data());
  return filter::ExactRate(decoded.shape, bytes + decoded.shape.ColumnBytes());
}

}  // namespace exactbloom
