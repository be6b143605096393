#include <bitset>

#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "filter_internals.h"
#include "kernels/kernel_table.h"

namespace exactbloom {
namespace {

// The answer of a block that is not usable.
bool AlwaysContained(const filter::PreparedFilter& /*filter*/, std::string_view /*key*/) {
  return true;
}

}  // namespace

BloomFilterView::BloomFilterView(std::string_view block) {
  const filter::DecodedBlock decoded = filter::DecodeBlock(block);
  status_ = decoded.status;
  filter_.description = decoded.description;
  may_contain_ = AlwaysContained;
  may_contain_batch_ = nullptr;  // never asked where the block is not usable
  hash_keys_ = nullptr;
  if (status_ != BlockStatus::kUsable) return;
  filter_ = filter::Prepare(decoded.array, decoded.description);
  const filter::Kernel& kernel = filter::KernelFor(decoded.description);
  may_contain_ = kernel.may_contain;
  may_contain_batch_ = kernel.may_contain_batch;
  hash_keys_ = filter::HashKeysInUse();
}

void BloomFilterView::MayContain(const std::string_view* keys, std::size_t count,
                                 bool* results) const {
  filter::FilterInternals::MayContainKeys(
      *this, count, [keys](std::size_t i) { return keys[i]; }, results);
}

std::uint64_t BloomFilterView::CountOnes() const {
  if (status_ != BlockStatus::kUsable) return 0;
  const std::uint64_t bytes = filter_.description.bits / 8;
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) ones += std::bitset<8>(filter_.array[i]).count();
  return ones;
}

}  // namespace exactbloom
