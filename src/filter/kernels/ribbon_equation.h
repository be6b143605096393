// The equations of a Ribbon filter, by definition: docs/format.md, section 8.
//
// A hash belongs to one of S shards, and in it to a bucket, and starts at a slot. The key is in the
// filter if, in each column, the exclusive or of the 64 bits from that slot on that its
// coefficients choose is the key's result bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace exactbloom::filter {

// The bits of a word and of a row of coefficients.
inline constexpr std::uint32_t kRowBits = 64;
inline constexpr std::uint32_t kMostColumns = 32;

// Multipliers that others tested for hashing.
// The whole part of 2^64 over the golden ratio: Fibonacci hashing (Knuth, The Art of Computer
// Programming, volume 3, section 6.4), and the increment of SplitMix64 (Steele, Lea and Flood
// 2014).
inline constexpr std::uint64_t kCoefficientMultiplier = 0x9e3779b97f4a7c15U;
// Of degski's mixer of 64 bits, which Reseeded applies (github.com/skeeto/hash-prospector, tests).
inline constexpr std::uint64_t kResultMultiplier = 0xd6e8feb86659fd93U;
// The first word of wyhash's secret, and the increment of its generator wyrand (Wang Yi,
// github.com/wangyi-fudan/wyhash).
inline constexpr std::uint64_t kShardSeedMultiplier = 0xa0761d6478bd642fU;

// A shard's record: its first slot, the number of its start slots, its seed, and for the ends of
// its buckets what they lie off even distances, in steps of kStartStep slots.
inline constexpr std::size_t kStartCountOffset = 4;
inline constexpr std::size_t kShardSeedOffset = 6;
inline constexpr std::size_t kDeviationsOffset = 7;
inline constexpr std::int32_t kStartStep = 2;

// The seed of a shard that lets every key pass.
inline constexpr unsigned kPassingShard = 255;

constexpr std::size_t RecordBytes(std::uint32_t buckets) { return kDeviationsOffset + buckets + 1; }

// Reads and writes words of a block, which are little-endian and lie at any address.
template <typename Word>
inline Word LoadWord(const unsigned char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  Word swapped = 0;
  for (std::size_t i = 0; i < sizeof word; ++i)
    swapped |= static_cast<Word>(Word{bytes[i]} << 8 * i);
  word = swapped;
#endif
  return word;
}

// The shard of a hash, and what is left of the hash to choose a start slot.
struct ShardOfHash {
  std::uint64_t shard;
  std::uint64_t rest;
};

inline ShardOfHash FindShard(std::uint64_t hash, std::uint64_t shards) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(hash) * shards;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

// The hash that replaces a key's in a shard of another seed than 0.
inline std::uint64_t Reseeded(std::uint64_t hash, unsigned seed) {
  hash += seed * kShardSeedMultiplier;
  hash = (hash ^ hash >> 32) * kResultMultiplier;
  hash = (hash ^ hash >> 32) * kResultMultiplier;
  return hash ^ hash >> 32;
}

// A bucket, and how far into it a hash lies, in parts of 2^32.
struct BucketOfHash {
  std::uint32_t bucket;
  std::uint32_t fraction;
};

inline BucketOfHash FindBucket(std::uint64_t rest, std::uint32_t buckets) {
  const std::uint64_t place = (rest >> 32) * buckets;
  return {static_cast<std::uint32_t>(place >> 32), static_cast<std::uint32_t>(place)};
}

// For EvenScale.
constexpr std::uint64_t InverseOfBuckets(std::uint32_t buckets) {
  return (std::uint64_t{1} << 32) / buckets;
}

// Where bucket `bucket` would begin if all had equally many keys. `scale` is EvenScale of the
// shard.
inline std::int32_t EvenStart(std::uint32_t bucket, std::uint64_t scale) {
  return static_cast<std::int32_t>(bucket * scale >> 32);
}

// `inverse` is InverseOfBuckets.
inline std::uint64_t EvenScale(std::uint32_t start_count, std::uint64_t inverse) {
  return start_count * inverse;
}

// The start in a bucket from `first` to `next`, slots within the shard. Where `next` is less, which
// no writer makes it, any number comes out.
inline std::uint32_t StartBetween(std::int32_t first, std::int32_t next, std::uint32_t fraction) {
  const auto width = static_cast<std::uint32_t>(next - first);
  return static_cast<std::uint32_t>(first) +
         static_cast<std::uint32_t>(std::uint64_t{width} * fraction >> 32);
}

inline std::uint64_t Coefficients(std::uint64_t hash) { return hash * kCoefficientMultiplier | 1; }

inline std::uint32_t Results(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash * kResultMultiplier >> 32);
}

// Where the columns of a block's slots are. Each 64 slots have a word for each column, one after
// the other; from block `first_wide` on there is one column more. The words of the last 64 slots,
// which may be fewer, have `last_bytes`.
struct ColumnPlaces {
  std::uint32_t columns = 0;
  std::uint32_t first_wide = 0;
  std::uint32_t last_block = 0;
  std::uint32_t last_bytes = 0;

  // All bits 0 for a wide block, and 1 for another. Arithmetic in place of a condition, of which
  // compilers make a branch: queries fall on wide blocks at random, so it would be mispredicted.
  std::uint64_t NarrowMask(std::uint32_t block) const {
    return static_cast<std::uint64_t>((std::int64_t{block} - first_wide) >> 63);
  }
  std::uint32_t ColumnsOf(std::uint32_t block) const {
    return columns + 1 + static_cast<std::uint32_t>(NarrowMask(block));
  }
  std::uint64_t OffsetOf(std::uint32_t block) const {
    const std::uint64_t wide_before = (std::uint64_t{block} - first_wide) & ~NarrowMask(block);
    return sizeof(std::uint64_t) * (std::uint64_t{block} * columns + wide_before);
  }
  std::size_t WordBytesOf(std::uint32_t block) const {
    return block == last_block ? last_bytes : sizeof(std::uint64_t);
  }
};

}  // namespace exactbloom::filter
