// The kernels for lines = 0 and filters of less than 2^32 bits, with draws of eight keys in a
// register: of a batch, or when a filter is built. For a single query the register has eight draws
// of one key. Text that draw_kernel_avx2.cc and draw_kernel_avx512.cc compile for their instruction
// sets. Positions are eight lanes of 32 bits. Each file defines before it
//
//   Keys            the hashes of eight keys
//   LoadKeys        loads eight hashes, or the first of them
//   Draws           one draw of each key
//   KeyDraws        eight draws of one key, out of one range, or of ranges that grow by 1
//   StoreWide       stores positions in 64 bits each
//   SetLanes        which lanes' bits are set; of two registers, in both
//   Compress        stores the chosen keys, one behind the other, and then any
//   MayHaveEqual    whether any two of eight or of sixteen draws are equal

// The most probes for which there are kernels here: enough for 22 bits per key.
inline constexpr std::size_t kMostProbes = 2 * kLanes;

// The draws that a batch tests for all of its keys: with a filter half full, one absent key in four
// passes. The other draws are tested, and in large filters prefetched, only for those that pass.
inline constexpr std::size_t kFirstDraws = 2;

// Batches prefetch arrays above this size. Smaller ones are read from a third-level cache in less
// time than the prefetches take.
inline constexpr std::size_t kFetchedArrayBytes = 4 * kSecondLevelCacheBytes;

inline constexpr unsigned kAllLanes = (1U << kLanes) - 1;

// The keys of which two of the first kCount draws are equal.
template <std::size_t kCount>
EXACTBLOOM_TARGET unsigned EqualLanes(const __m256i* draws) {
  __m256i equal = _mm256_setzero_si256();
#pragma GCC unroll 16
  for (std::size_t i = 1; i < kCount; ++i) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < i; ++j) {
      equal = _mm256_or_si256(equal, _mm256_cmpeq_epi32(draws[i], draws[j]));
    }
  }
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
}

// The same, by the number of draws.
template <std::size_t... kCounts>
EXACTBLOOM_TARGET inline unsigned EqualLanes(const __m256i* draws, std::size_t count,
                                             std::index_sequence<kCounts...>) {
  static constexpr unsigned (*kByCount[])(const __m256i*) = {EqualLanes<kCounts>...};
  return kByCount[count](draws);
}

EXACTBLOOM_TARGET inline unsigned EqualLanes(const __m256i* draws, std::size_t count) {
  return EqualLanes(draws, count, std::make_index_sequence<kMostProbes + 1>());
}

// How the words of one key's lanes are read: by a gather, or by loads, one by one.
enum class Reading { kGather, kLoads };

// Whether the bits of the lanes from kBegin on are set.
template <std::size_t kBegin>
EXACTBLOOM_INLINE bool AllSetByLoads(const unsigned char* array, __m256i positions) {
  alignas(32) std::uint32_t words[kLanes];
  alignas(32) std::uint32_t bits[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_srli_epi32(positions, 5));
  _mm256_store_si256(reinterpret_cast<__m256i*>(bits), positions);
  // Otherwise the compiler would extract the lanes from the registers, which takes longer.
  asm("" : "+m"(words), "+m"(bits));
  std::uint32_t hit = 1;
#pragma GCC unroll 8
  for (std::size_t i = kBegin; i < kLanes; ++i) {
    std::uint32_t word;
    std::memcpy(&word, array + std::size_t{words[i]} * 4, sizeof word);
    hit &= word >> (bits[i] & 31);
  }
  return hit != 0;
}

EXACTBLOOM_INLINE void Fetch(const unsigned char* array, __m256i positions) {
  alignas(32) std::uint32_t bytes[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), _mm256_srli_epi32(positions, 3));
  // As above.
  asm("" : "+m"(bytes));
#pragma GCC unroll 8
  for (const std::uint32_t byte : bytes) __builtin_prefetch(array + byte);
}

// A query of one key makes its first kAtOnce draws one by one, without a branch between them: that
// takes fewer instructions than a register of draws, and four refuse 15 absent keys of 16.
template <FilterKind kKind, std::size_t kAtOnce, int kVectors, Reading kReading>
struct VectorDraws {
  static constexpr bool kClassic = kKind == FilterKind::kClassic;

  // Draw i of each of eight keys.
  EXACTBLOOM_INLINE static __m256i DrawOf(Keys keys, std::size_t i, std::uint64_t first_range) {
    return Draws(keys, internal::kMultiplierPowers[i], kClassic ? first_range + i : first_range);
  }

  // Which of up to eight keys, whose first draws hit, have all bits set.
  EXACTBLOOM_TARGET static unsigned RestSet(const unsigned char* array,
                                            const FilterDescription& filter,
                                            const std::uint64_t* hashes, std::size_t count) {
    const auto probes = static_cast<std::size_t>(filter.probes);
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    const Keys keys = LoadKeys(hashes, count);
    __m256i draws[kMostProbes];
    unsigned lanes = _bzhi_u32(kAllLanes, static_cast<unsigned>(count));
    std::size_t i = kFirstDraws;
    for (; i + 1 < probes; i += 2) {
      draws[i] = DrawOf(keys, i, first_range);
      draws[i + 1] = DrawOf(keys, i + 1, first_range);
      lanes &= SetLanes(array, draws[i], draws[i + 1]);
    }
    if (i < probes) {
      draws[i] = DrawOf(keys, i, first_range);
      lanes &= SetLanes(array, draws[i]);
    }
    if (!kClassic || lanes == 0) return lanes;
    for (std::size_t j = 0; j < kFirstDraws; ++j) draws[j] = DrawOf(keys, j, first_range);
    for (unsigned equal = EqualLanes(draws, probes) & lanes; equal != 0; equal &= equal - 1) {
      const unsigned lane = equal & -equal;
      if (!CodeWordSet(array, filter, hashes[__builtin_ctz(equal)])) lanes &= ~lane;
    }
    return lanes;
  }

  // Of a group of keys, of which `left` are left.
  EXACTBLOOM_INLINE static std::size_t KeysOfGroup(std::size_t left) {
    return left < kLanes ? left : kLanes;
  }

  EXACTBLOOM_TARGET static void MayContainBatch(const unsigned char* array,
                                                const FilterDescription& filter,
                                                const std::uint64_t* hashes, std::size_t count,
                                                bool* results) {
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    const bool fetches = filter.bits / 8 > kFetchedArrayBytes;
    __m256i draws[kBatchKeys / kLanes][kFirstDraws];
    for (std::size_t i = 0; i < count; i += kLanes) {
      const Keys keys = LoadKeys(hashes + i, KeysOfGroup(count - i));
      for (std::size_t draw = 0; draw < kFirstDraws; ++draw) {
        draws[i / kLanes][draw] = DrawOf(keys, draw, first_range);
        if (fetches) Fetch(array, draws[i / kLanes][draw]);
      }
    }
    alignas(64) std::array<std::uint64_t, kBatchKeys + kLanes> survivors;
    std::size_t survivor_count = 0;
    std::uint32_t hits = 0;
    for (std::size_t i = 0; i < count; i += kLanes) {
      unsigned lanes = SetLanes(array, draws[i / kLanes][0], draws[i / kLanes][1]);
      lanes = _bzhi_u32(lanes, static_cast<unsigned>(count - i));
      hits |= lanes << i;
      Compress(LoadKeys(hashes + i, KeysOfGroup(count - i)), lanes, &survivors[survivor_count]);
      survivor_count += static_cast<std::size_t>(__builtin_popcount(lanes));
    }
    if (fetches) {
      for (std::size_t i = 0; i < survivor_count; i += kLanes) {
        const Keys keys = LoadKeys(&survivors[i], KeysOfGroup(survivor_count - i));
        for (std::size_t draw = kFirstDraws; draw < static_cast<std::size_t>(filter.probes);
             ++draw) {
          Fetch(array, DrawOf(keys, draw, first_range));
        }
      }
    }
    std::uint32_t survivor_hits = 0;
    for (std::size_t i = 0; i < survivor_count; i += kLanes) {
      survivor_hits |= RestSet(array, filter, &survivors[i], KeysOfGroup(survivor_count - i)) << i;
    }
    hits = _pdep_u32(survivor_hits, hits);
    WriteResults(hits, count, results);
  }

  // By the definition: for keys with equal draws, and for groups that do not fill a register.
  __attribute__((noinline)) static void LocateByDefinition(const FilterDescription& filter,
                                                           std::uint64_t hash,
                                                           std::uint64_t* positions,
                                                           std::size_t stride) {
    const CodeWord word = MakeCodeWord(filter.layout, hash, filter.bits, filter.probes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(word.size); ++i) {
      positions[i * stride] = word.positions[i];
    }
  }

  EXACTBLOOM_TARGET static void Locate(const FilterDescription& filter, const std::uint64_t* hashes,
                                       std::size_t count, std::uint64_t* positions) {
    const auto probes = static_cast<std::size_t>(filter.probes);
    if (count < kLocateKeys) {
      for (std::size_t i = 0; i < count; ++i) {
        LocateByDefinition(filter, hashes[i], positions + i * probes, 1);
      }
      return;
    }
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    const Keys keys = LoadKeys(hashes);
    __m256i draws[kMostProbes];
    for (std::size_t i = 0; i < probes; ++i) {
      draws[i] = DrawOf(keys, i, first_range);
      StoreWide(draws[i], positions + i * kLanes);
    }
    if (!kClassic) return;
    for (unsigned equal = EqualLanes(draws, probes); equal != 0; equal &= equal - 1) {
      const auto lane = static_cast<std::size_t>(__builtin_ctz(equal));
      LocateByDefinition(filter, hashes[lane], positions + lane, kLanes);
    }
  }

  static void Add(unsigned char* array, const FilterDescription& filter,
                  const std::uint64_t* hashes, std::size_t count) {
    AddDraws(array, filter, hashes, count, Locate);
  }

  // Draws begin to begin + 7 of one key.
  EXACTBLOOM_INLINE static __m256i KeyDrawsOf(std::uint64_t hash, std::size_t begin,
                                              std::uint64_t first_range) {
    const std::uint64_t range = kClassic ? first_range + begin : first_range;
    return KeyDraws(hash, &internal::kMultiplierPowers[begin], range, kClassic);
  }

  EXACTBLOOM_INLINE static bool FirstDrawsSet(const unsigned char* array, std::uint64_t first_range,
                                              std::uint64_t hash) {
    std::uint32_t hit = 1;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const std::uint64_t position =
          Draw(hash, static_cast<int>(i), kClassic ? first_range + i : first_range);
      std::uint32_t word;
      std::memcpy(&word, array + position / 32 * 4, sizeof word);
      hit &= word >> (position & 31);
    }
    return hit != 0;
  }

  // Whether the bits of the lanes kBegin to `used` - 1 are set, and perhaps of those before; the
  // lanes behind take the first one's position.
  template <std::size_t kBegin>
  EXACTBLOOM_INLINE static bool LanesSet(const unsigned char* array, __m256i positions, int used) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i first = _mm256_broadcastd_epi32(_mm256_castsi256_si128(positions));
    positions =
        _mm256_blendv_epi8(first, positions, _mm256_cmpgt_epi32(_mm256_set1_epi32(used), lanes));
    return kReading == Reading::kGather ? SetLanes(array, positions) == kAllLanes
                                        : AllSetByLoads<kBegin>(array, positions);
  }

  // After the first draws: the others, and the positions that replace equal ones.
  EXACTBLOOM_TARGET __attribute__((noinline)) static bool RestOfKeySet(const PreparedFilter& filter,
                                                                       std::uint64_t hash) {
    const unsigned char* array = filter.array;
    const int probes = filter.description.probes;
    const __m256i draws = KeyDrawsOf(hash, 0, filter.range);
    if (!LanesSet<kAtOnce>(array, draws, probes)) return false;
    if (kVectors == 1) {
      return !kClassic || !MayHaveEqual(draws) || CodeWordSet(array, filter.description, hash);
    }
    const __m256i more = KeyDrawsOf(hash, kLanes, filter.range);
    if (!LanesSet<0>(array, more, probes - static_cast<int>(kLanes))) return false;
    return !kClassic || !MayHaveEqual(draws, more) || CodeWordSet(array, filter.description, hash);
  }

  EXACTBLOOM_INLINE static bool MayContainHash(const PreparedFilter& filter, std::uint64_t hash) {
    return FirstDrawsSet(filter.array, filter.range, hash) && RestOfKeySet(filter, hash);
  }

  EXACTBLOOM_TARGET __attribute__((noinline, flatten)) static bool MayContainOtherKey(
      const PreparedFilter& filter, std::string_view key) {
    return MayContainHash(filter, HashMostlyShortKey(key, filter.description.hash_seed));
  }

  EXACTBLOOM_TARGET static bool MayContain(const void* prepared, std::string_view key) {
    const auto& filter = *static_cast<const PreparedFilter*>(prepared);
    if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
    return MayContainHash(filter, HashMiddleKey(key, filter.low_flip, filter.high_flip));
  }

  static constexpr Kernel kKernel = {MayContain, MayContainBatch, Add, Locate};
};

template <FilterKind kKind, Reading kReading>
const Kernel& VectorKernelFor(std::size_t probes) {
  constexpr std::size_t kAtOnce = kLanes / 2;
  if (probes < kAtOnce) return VectorDraws<kKind, kFirstDraws, 1, kReading>::kKernel;
  return probes <= kLanes ? VectorDraws<kKind, kAtOnce, 1, kReading>::kKernel
                          : VectorDraws<kKind, kAtOnce, 2, kReading>::kKernel;
}

// The portable kernel where these do not fit.
template <Reading kReading>
const Kernel& VectorKernelFor(const FilterDescription& filter) {
  const auto probes = static_cast<std::size_t>(filter.probes);
  const bool fits = filter.bits >> 32 == 0 && probes >= kFirstDraws && probes <= kMostProbes;
  if (!fits) return DrawKernelFor(filter);
  return filter.layout.kind == FilterKind::kClassic
             ? VectorKernelFor<FilterKind::kClassic, kReading>(probes)
             : VectorKernelFor<FilterKind::kStandard, kReading>(probes);
}
