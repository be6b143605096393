// The hashes of many keys (key_hash.h). Keys that XXH3 hashes in one step without a branch are
// hashed a group at a time, one key in each lane. Text that kernel files include behind
// group_words-inl.h.

// floor(a b / 2^64) xor (a b mod 2^64), of the products of halves.
EXACTBLOOM_TARGET inline GroupWords FoldedProducts(GroupWords a, GroupWords b) {
  constexpr std::uint64_t kLowHalf = 0xffffffffU;
  const GroupWords low = LowProducts(a, b);
  const GroupWords cross = LowProducts(a, b >> 32);
  const GroupWords middle = (low >> 32) + (cross & kLowHalf) + LowProducts(a >> 32, b);
  const GroupWords high = LowProducts(a >> 32, b >> 32) + (cross >> 32) + (middle >> 32);
  return high ^ ((middle << 32) | (low & kLowHalf));
}

// The same for `low` and `high`, the first and the last eight bytes of keys of these sizes.
EXACTBLOOM_TARGET inline GroupWords HashGroup(GroupWords low, GroupWords high, GroupWords sizes,
                                              std::uint64_t seed) {
  low ^= kLowFlip + seed;
  high ^= kHighFlip - seed;
  GroupWords hash = sizes + SwapBytes(low) + high + FoldedProducts(low, high);
  hash = (hash ^ (hash >> 37)) * kAvalancheMultiplier;
  return hash ^ (hash >> 32);
}

EXACTBLOOM_TARGET inline void HashKeysInGroups(const KeyBatch& keys, std::size_t count,
                                               std::uint64_t seed, std::uint64_t* hashes) {
  std::size_t i = 0;
  for (; i + kGroupKeys <= count; i += kGroupKeys) {
    const GroupWords sizes = LoadGroup(&keys.sizes[i]);
    if (NonzeroLanes((sizes - kLeastMiddleBytes) & ~(kMiddleSizes - 1)) != 0) {
      HashKeyRange(keys, i, i + kGroupKeys, seed, hashes);
      continue;
    }
    const auto low = [&](std::size_t j) EXACTBLOOM_TARGET { return EightBytes(keys.data[i + j]); };
    const auto high = [&](std::size_t j) EXACTBLOOM_TARGET {
      return EightBytes(keys.data[i + j] + keys.sizes[i + j] - 8);
    };
    StoreGroup(hashes + i, HashGroup(GatherGroup(low), GatherGroup(high), sizes, seed));
  }
  HashKeyRange(keys, i, count, seed, hashes);
}
