// The false-positive rate of one filter block, from its own bits.
//
// The exact rate is an average over hash functions; the bits that are set give the rate of this
// very filter. An absent key passes with (X/m)^k or, for the classic kind, C(X,k) / C(m,k).
//
// RocksDB's own Bloom filter has the bits of a key in one cache line. Each line is close to a
// filter of the standard kind, and the rate is the mean of theirs. A Ribbon filter compares b bits
// (b + 1 in a part of its slots), each of which agrees by chance with probability 1/2, so its rate
// does not depend on which bits are set.
#pragma once

#include <rocksdb/slice.h>

#include <cstdint>

#include "sst/block_description.h"

namespace exactbloom::tool {

struct BlockFill {
  FilterBlockDescription filter;
  std::uint64_t bits = 0;  // without the trailer
  std::uint64_t ones = 0;  // for Bloom filters
  double rate = 1.0;       // the share of absent keys that pass, given these bits
};

// Accepts any bytes; a block of unknown format lets every key pass. For RocksDB's Bloom filters of
// format versions below 5, which set the same bits repeatedly, the rate is a lower bound.
BlockFill MeasureBlock(const rocksdb::Slice& block);

// Returns the rate of RocksDB's filters of `keys` keys, as a mean over hash functions: of a Bloom
// filter exactly that of its cache lines (CacheLineFalsePositiveRate), as far as RocksDB draws the
// bits of a key independently, of a Ribbon filter that of the block.
double BuiltInRate(const BlockFill& block, double keys);

}  // namespace exactbloom::tool
