#include "construction_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "block_format.h"
#include "kernels/kernel.h"
#include "kernels/key_hash.h"

namespace exactbloom::filter {
namespace {

std::uint64_t BlockChecksum(std::string_view block) { return HashKey(block, 0); }

bool ContainsAll(const DecodedBlock& block, const std::uint64_t* hashes, std::size_t count) {
  const Kernel& kernel = KernelFor(block.description);
  std::array<bool, kBatchKeys> contained;
  for (std::size_t i = 0; i < count; i += kBatchKeys) {
    const std::size_t batch = std::min(count - i, kBatchKeys);
    kernel.may_contain_batch(block.array, block.description, hashes + i, batch, contained.data());
    if (!std::all_of(contained.begin(), contained.begin() + batch, [](bool b) { return b; })) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::uint64_t ConstructionCheck::ChecksumOf(HashStore& hashes) {
  std::uint64_t checksum = 0;
  hashes.ForEach([&](const std::uint64_t* chunk, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) checksum = Extend(checksum, chunk[i]);
  });
  return checksum;
}

void ConstructionCheck::Keep(HashStore& hashes, std::string_view block) {
  finished_ = std::exchange(hashes, HashStore(Consumed::kKept));
  finished_checksum_ = std::exchange(checksum_, 0);
  block_checksum_ = BlockChecksum(block);
  has_block_ = true;
}

ConstructionFault ConstructionCheck::CheckBlock(std::string_view block) {
  if (!std::exchange(has_block_, false)) return ConstructionFault::kNone;
  HashStore hashes = std::exchange(finished_, HashStore());
  if (BlockChecksum(block) != block_checksum_) return ConstructionFault::kBlock;
  // The hashes may have changed before the array was filled with them.
  if (ChecksumOf(hashes) != finished_checksum_) return ConstructionFault::kHashes;

  const DecodedBlock decoded = DecodeBlock(block);
  bool contains_all = decoded.status == BlockStatus::kUsable;
  hashes.ForEach([&](const std::uint64_t* chunk, std::size_t count) {
    contains_all = contains_all && ContainsAll(decoded, chunk, count);
  });
  return contains_all ? ConstructionFault::kNone : ConstructionFault::kMissingKey;
}

}  // namespace exactbloom::filter
