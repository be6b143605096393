// Finds the faults that memory or a processor adds to a filter between its first key and the
// writing of its block. Each step is checked by a later one:
//
//   a hash changes while it is kept       the checksum of all hashes
//   the array is filled wrongly           every hash is asked of the finished block
//   the block changes after that          the checksum of the block
#pragma once

#include <cstdint>
#include <string_view>

#include "exactbloom/filter.h"
#include "hash_store.h"

namespace exactbloom::filter {

class ConstructionCheck {
 public:
  // Notes a hash that goes into the store.
  void Note(std::uint64_t hash) { checksum_ = Extend(checksum_, hash); }

  // Whether the store holds the noted hashes, in their order.
  bool Fits(HashStore& hashes) const { return ChecksumOf(hashes) == checksum_; }

  // Takes over the hashes of a filter that is finished, and starts again for the next one.
  void Keep(HashStore& hashes, std::string_view block);

  // Checks the block that was finished last, and forgets its hashes.
  ConstructionFault CheckBlock(std::string_view block);

  void Clear() { *this = ConstructionCheck(); }

 private:
  // Injective in either argument, so a change of one hash is always found.
  static std::uint64_t Extend(std::uint64_t checksum, std::uint64_t hash) {
    return (checksum << 1 | checksum >> 63) + hash;
  }
  static std::uint64_t ChecksumOf(HashStore& hashes);

  std::uint64_t checksum_ = 0;
  HashStore finished_;
  std::uint64_t finished_checksum_ = 0;
  std::uint64_t block_checksum_ = 0;
  bool has_block_ = false;
};

}  // namespace exactbloom::filter
