// The false-positive rate of one filter block, from its own bits.
//
// The exact rate is an average over hash functions; the bits that are set give the rate of this
// very filter. A key whose bits may lie anywhere passes with (X/m)^k or, for the classic kind,
// C(X,k) / C(m,k). With lines = 1 each line is a filter of its own, and the rate is the mean of
// theirs.
//
// RocksDB's own Bloom filter also has the bits of a key in one line; its rates are close to those
// of the standard kind with lines = 1. A Ribbon filter compares b bits (b + 1 in a part of its
// slots), each of which agrees by chance with probability 1/2, so its rate does not depend on its
// contents.
#pragma once

#include <rocksdb/slice.h>

#include <cstdint>

#include "exactbloom/layout.h"
#include "exactbloom/table_filters.h"

namespace exactbloom::tool {

struct BlockFill {
  FilterFamily family = FilterFamily::kUnknown;
  // For Bloom filters; for RocksDB's own, the layout that describes them.
  Layout layout;
  int probes = 0;
  std::uint64_t bits = 0;  // without the trailer; also for Ribbon filters
  std::uint64_t ones = 0;  // for Bloom filters
  std::uint64_t keys = 0;  // for ExactBloom's, as the block says
  double rate = 1.0;       // the share of absent keys that pass, given these bits

  bool IsBloom() const { return probes != 0; }
};

// Accepts any bytes; a block of unknown format lets every key pass. For RocksDB's Bloom filters of
// format versions below 5, which set the same bits repeatedly, the rate is a lower bound.
BlockFill MeasureBlock(const rocksdb::Slice& block);

}  // namespace exactbloom::tool
