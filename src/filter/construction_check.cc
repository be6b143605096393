#include "construction_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "block_format.h"
#include "kernels/kernel.h"
#include "kernels/key_hash.h"
#include "ribbon/ribbon_format.h"

namespace exactbloom::filter {
namespace {

std::uint64_t BlockChecksum(std::string_view block) { return HashKey(block, 0); }

// Whether a block answers with true for hashes, up to kBatchKeys at a time as answer(hashes, count,
// results).
template <typename Answer>
bool ContainsAll(const std::uint64_t* hashes, std::size_t count, Answer answer) {
  std::array<bool, kBatchKeys> contained;
  for (std::size_t i = 0; i < count; i += kBatchKeys) {
    const std::size_t batch = std::min(count - i, kBatchKeys);
    answer(hashes + i, batch, contained.data());
    if (!std::all_of(contained.begin(), contained.begin() + batch, [](bool b) { return b; })) {
      return false;
    }
  }
  return true;
}

bool BloomContainsAll(const DecodedBloom& block, HashStore& hashes) {
  bool contains_all = block.status == BlockStatus::kUsable;
  hashes.ForEach([&](const std::uint64_t* chunk, std::size_t count) {
    contains_all =
        contains_all && ContainsAll(chunk, count, [&](auto* first, auto size, bool* results) {
          KernelFor(block.description)
              .may_contain_batch(block.array, block.description, first, size, results);
        });
  });
  return contains_all;
}

bool RibbonContainsAll(const DecodedRibbon& decoded, std::string_view block, HashStore& hashes) {
  if (decoded.status != BlockStatus::kUsable) return false;
  if (decoded.shape.shards == 0) {
    return hashes.empty() || decoded.shape.columns == kAllPassColumns;
  }
  const PreparedRibbon filter = PrepareRibbon(decoded, block);
  bool contains_all = true;
  hashes.ForEach([&](const std::uint64_t* chunk, std::size_t count) {
    contains_all =
        contains_all && ContainsAll(chunk, count, [&](auto* first, auto size, bool* results) {
          RibbonKernelInUse().may_contain_batch(filter, first, size, results);
        });
  });
  return contains_all;
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

  const DecodedTrailer trailer = DecodeTrailer(block);
  const bool contains_all = trailer.IsRibbon()
                                ? RibbonContainsAll(DecodeRibbon(trailer, block), block, hashes)
                                : BloomContainsAll(DecodeBloom(trailer, block), hashes);
  return contains_all ? ConstructionFault::kNone : ConstructionFault::kMissingKey;
}

}  // namespace exactbloom::filter
