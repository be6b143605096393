// The false-positive rate of one filter block, from its own bits.
//
// The exact rate is an average over hash functions; the bits that are set give the rate of this
// very filter. A key whose bits may lie anywhere passes with (X/m)^k or, for the classic kind,
// C(X,k) / C(m,k). In the cache-line layouts each line is a filter of its own, so with g(x) the
// same of a line with x ones:
//
//   lines = 1  the mean of g over all lines
//   lines = 2  the mean of g(x) g(y) over all pairs of lines of one page that a key may choose
//
// RocksDB's own Bloom filter has the bits of a key in one line, too, and takes them from products
// of one hash; it is described as standard with lines = 1, which its rates follow closely. A Ribbon
// filter compares b bits (b + 1 for a part of its slots), each of which agrees by chance in half of
// the cases; its bits tell nothing else.
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

// Accepts any bytes; a block of unknown format passes every key. The older Bloom filters, of
// RocksDB's format versions below 5, repeat their bits too often for their fill to give the rate:
// the result is a lower bound for them.
BlockFill MeasureBlock(const rocksdb::Slice& block);

}  // namespace exactbloom::tool
