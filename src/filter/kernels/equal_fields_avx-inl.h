// Whether fields are equal (equal_fields.h), four turns in a register. Text that kernel_avx2.cc and
// kernel_avx512.cc compile for their instruction sets.

// Turns of `from` compared with `with`.
template <int kFields>
EXACTBLOOM_TARGET inline __m256i ZeroFields(__m256i with, __m256i from, __m256i by,
                                            __m256i unused) {
  using Constants = EqualFields<kFields>;
  const __m256i up = _mm256_sllv_epi64(from, by);
  const __m256i down =
      _mm256_srlv_epi64(from, _mm256_sub_epi64(_mm256_set1_epi64x(Constants::kBits), by));
  const __m256i different =
      _mm256_or_si256(_mm256_xor_si256(with, _mm256_or_si256(up, down)), unused);
  const __m256i less =
      _mm256_sub_epi64(different, _mm256_set1_epi64x(static_cast<long long>(Constants::kOnes)));
  return _mm256_andnot_si256(different, less);
}

template <int kFields>
EXACTBLOOM_TARGET inline __m256i AllFields(std::uint64_t word) {
  return _mm256_set1_epi64x(static_cast<long long>(word & EqualFields<kFields>::kAllFields));
}

template <int kFields>
EXACTBLOOM_TARGET inline __m256i SelfZeroFields(std::uint64_t word, int used) {
  const __m256i by =
      _mm256_setr_epi64x(1 * kFieldBits, 2 * kFieldBits, 3 * kFieldBits, 4 * kFieldBits);
  const __m256i fields = AllFields<kFields>(word);
  return ZeroFields<kFields>(fields, fields, by,
                             Load(&EqualFields<kFields>::kUnusedTurns[internal::Index(used)]));
}

template <int kFields>
EXACTBLOOM_TARGET inline bool AnyField(__m256i zero_fields) {
  return _mm256_testz_si256(
             zero_fields,
             _mm256_set1_epi64x(static_cast<long long>(EqualFields<kFields>::kHighs))) == 0;
}

template <int kFields>
EXACTBLOOM_TARGET inline bool AnyEqual(std::uint64_t word, int used) {
  return AnyField<kFields>(SelfZeroFields<kFields>(word, used));
}

template <int kFields>
EXACTBLOOM_TARGET inline bool AnyEqual(std::uint64_t first, std::uint64_t second, int used) {
  const __m256i from = AllFields<kFields>(first);
  const __m256i with = AllFields<kFields>(second);
  const __m256i unused = _mm256_set1_epi64x(
      static_cast<long long>(EqualFields<kFields>::kUnused[internal::Index(used)]));
  const __m256i low = _mm256_setr_epi64x(0, kFieldBits, 2 * kFieldBits, 3 * kFieldBits);
  // A turn beyond all fields is none.
  const __m256i high =
      _mm256_setr_epi64x(4 * kFieldBits, 5 * kFieldBits, 6 % kFields * kFieldBits, 0);
  const __m256i cross = _mm256_or_si256(ZeroFields<kFields>(with, from, low, unused),
                                        ZeroFields<kFields>(with, from, high, unused));
  const __m256i self = _mm256_or_si256(SelfZeroFields<kFields>(first, kFields),
                                       SelfZeroFields<kFields>(second, used));
  return AnyField<kFields>(_mm256_or_si256(cross, self));
}
