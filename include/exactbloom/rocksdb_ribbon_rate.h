// The false-positive rate of RocksDB's Ribbon filters, as a model.
//
// A Ribbon filter stores, for each key, r bits of a hash as the solution of a linear system, and an
// absent key matches them by chance: with probability 2^-r. The system needs a few per cent more
// slots than keys to be solvable, so b bits per key give r = b / overhead. RocksDB mixes slots of
// two neighbouring whole r, and the rate is the mixture of theirs. (Dillinger, Walzer: Ribbon
// filter: practically smaller than Bloom and Xor, 2021.)
//
// So one more bit per key divides the rate by 2^(1 / overhead), about 1.95; it divides that of a
// Bloom filter by 2^(ln 2) = 1.62. The price is a longer time to build and to check. No function
// throws.
#pragma once

#include <cstdint>

namespace exactbloom {

// The bytes that RocksDB puts behind the slots.
inline constexpr std::uint64_t kRocksDBRibbonMetadataBytes = 5;

// The most memory that RocksDB's builder takes for a key: 8 bytes for its hash, and 20 for each
// slot of the system that it solves; within 3% from 1e3 to 1e9 keys. The block is allocated when
// the hashes are gone.
inline constexpr std::uint64_t kRocksDBRibbonBuildBytesPerKey = 29;

// Returns the slots per key that RocksDB's builder takes: 1.0225 for some thousands of keys, and
// 0.0038 more with every doubling from 2^14 on.
//   keys   1 .. 1e12
// Precision: relative error at most 0.3% above a thousand keys; smaller filters take more slots, or
// are Bloom filters. Source: fitted to the measured table of RocksDB's util/ribbon_config.cc, for
// coefficients of 128 bits and a failure in 20.
double RocksDBRibbonOverhead(std::uint64_t keys);

// Slots come in blocks, and those of a block are equally wide.
inline constexpr std::uint64_t kRocksDBRibbonBlockSlots = 128;

// Returns the rate of a Ribbon filter whose slots are known; it is exact except for the chance of
// its hash function. A key has the width of the block that its first slot lies in. The blocks in
// front are one bit narrower. The last block holds the first slot of hardly any key, since a key
// has as many slots as a block, and all of them lie within the filter.
//   slots   a multiple of kRocksDBRibbonBlockSlots, 2 blocks .. 2^53
//   bits    of all slots; without the metadata
double RocksDBRibbonFalsePositiveRateOfSlots(std::uint64_t slots, std::uint64_t bits);

// Returns the rate of a Ribbon filter that RocksDB makes for `keys` keys.
//   keys   n, 1 .. 1e12
//   bits   of all slots; without the metadata
// Precision: that of the overhead, about 2% of the rate at 10 bits per key. At least 2^-32, the
// widest slot that RocksDB has.
double RocksDBRibbonFalsePositiveRate(std::uint64_t keys, std::uint64_t bits);

}  // namespace exactbloom
