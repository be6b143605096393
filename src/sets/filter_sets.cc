#include "exactbloom/filter_sets.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>

#include "../filter/block_format.h"
#include "exactbloom/theory/key_count_estimate.h"

namespace exactbloom {
namespace {

using filter::DecodedBloom;

// No function of a number of keys takes more.
constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 53;

// Two filters that give a key the same bits.
struct Pair {
  DecodedBloom first;
  DecodedBloom second;
};

std::optional<Pair> PairOf(std::string_view first_block, std::string_view second_block) {
  const Pair pair{filter::DecodeBloom(first_block), filter::DecodeBloom(second_block)};
  if (pair.first.status != BlockStatus::kUsable || pair.second.status != BlockStatus::kUsable) {
    return std::nullopt;
  }
  const filter::BloomDescription& first = pair.first.description;
  const filter::BloomDescription& second = pair.second.description;
  const bool equal = first.kind == second.kind && first.bits == second.bits &&
                     first.probes == second.probes && first.hash_seed == second.hash_seed;
  return equal ? std::optional(pair) : std::nullopt;
}

std::size_t ArrayBytes(const Pair& pair) {
  return static_cast<std::size_t>(filter::ArrayBytes(pair.first.description.bits));
}

std::uint64_t OnesOfUnion(const Pair& pair) {
  std::uint64_t ones = 0;
  for (std::size_t i = 0; i < ArrayBytes(pair); ++i) {
    ones += std::bitset<8>(pair.first.array[i] | pair.second.array[i]).count();
  }
  return ones;
}

// The fewest and the most keys that the union may have.
std::uint64_t FewestKeys(const Pair& pair) {
  return std::max(pair.first.description.keys, pair.second.description.keys);
}
std::uint64_t MostKeys(const Pair& pair) {
  const std::uint64_t first = pair.first.description.keys;
  return first + std::min(pair.second.description.keys, ~first);
}

// The keys of the union as far as ones tell them.
std::uint64_t EstimatedKeys(const Pair& pair) {
  const filter::BloomDescription& first = pair.first.description;
  const std::uint64_t most = MostKeys(pair);
  const auto estimate = EstimateKeys(first.kind, first.bits, OnesOfUnion(pair), first.probes, 0.0);
  if (!estimate || estimate->keys >= static_cast<double>(most)) return most;
  return std::clamp(static_cast<std::uint64_t>(std::llround(estimate->keys)), FewestKeys(pair),
                    most);
}

template <typename Operation>
FilterBlock Combine(const Pair& pair, std::uint64_t keys, Operation operation) {
  filter::BloomDescription description = pair.first.description;
  description.keys = keys;
  FilterBlock block;
  block.size = static_cast<std::size_t>(filter::BlockBytes(description));
  block.data = std::make_unique<char[]>(block.size);
  auto* const bytes = reinterpret_cast<unsigned char*>(block.data.get());
  std::transform(pair.first.array, pair.first.array + ArrayBytes(pair), pair.second.array, bytes,
                 operation);
  filter::EncodeTrailer(description, bytes);
  return block;
}

}  // namespace

std::optional<FilterBlock> UnionOf(std::string_view first, std::string_view second,
                                   std::optional<std::uint64_t> keys) {
  const std::optional<Pair> pair = PairOf(first, second);
  if (!pair) return std::nullopt;
  const std::uint64_t all = keys ? *keys : EstimatedKeys(*pair);
  if (all < FewestKeys(*pair) || all > MostKeys(*pair) || all > kMostKeys) {
    return std::nullopt;
  }
  return Combine(*pair, all, std::bit_or<unsigned char>());
}

std::optional<FilterBlock> IntersectionOf(std::string_view first, std::string_view second) {
  const std::optional<Pair> pair = PairOf(first, second);
  if (!pair) return std::nullopt;
  // At least the keys of the fuller filter are in the union, so that this is no negative number.
  const std::uint64_t fewer = std::min(pair->first.description.keys, pair->second.description.keys);
  const std::uint64_t more = std::max(pair->first.description.keys, pair->second.description.keys);
  return Combine(*pair, fewer - (EstimatedKeys(*pair) - more), std::bit_and<unsigned char>());
}

}  // namespace exactbloom
