// The NEON kernels (AArch64, which always has NEON).
#if defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>

#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET

namespace exactbloom::filter {
namespace {

// A lane has the room of a field and this many bits below it.
constexpr int kLaneBits = 16;
constexpr int kBelowField = kLaneBits - kFieldBits;

constexpr std::uint16_t kLanes = 8;
constexpr std::uint16_t kLaneNumbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7};

// The least number that is not a field.
constexpr std::uint16_t kNoField = 1U << kFieldBits;

// Lane i of eight takes the two bytes of the hash word that hold field i, which begins at bit i of
// them, and moves the field to its top. The last lane holds no field.
inline uint16x8_t FieldLanes(std::uint64_t word) {
  constexpr std::uint8_t kBytes[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7};
  constexpr std::int16_t kShifts[] = {7, 6, 5, 4, 3, 2, 1, 0};
  const uint8x16_t words = vreinterpretq_u8_u64(vdupq_n_u64(word));
  const uint8x16_t pairs = vqtbl1q_u8(words, vld1q_u8(kBytes));
  return vshlq_u16(vreinterpretq_u16_u8(pairs), vld1q_s16(kShifts));
}

// All ones in the lanes of the fields in use.
inline uint16x8_t LanesInUse(int used) {
  return vcltq_u16(vld1q_u16(kLaneNumbers), vdupq_n_u16(static_cast<std::uint16_t>(used)));
}

// Whether the low byte of any lane is not zero.
inline bool AnyLane(uint16x8_t lanes) {
  return vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(lanes)), 0) != 0;
}

// The six high bits of a field say which byte of the line its position is in, the others which bit
// of that. The high bytes of the lanes also look up a byte, but test no bit of it.
inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  const uint16x8_t fields = FieldLanes(word);
  const uint8x16_t index = vreinterpretq_u8_u16(vshrq_n_u16(fields, kBelowField + 3));
  const uint16x8_t values = vreinterpretq_u16_u8(vqtbl4q_u8(vld1q_u8_x4(line), index));
  const uint16x8_t shift = vandq_u16(vshrq_n_u16(fields, kBelowField), vdupq_n_u16(7));
  const uint16x8_t one = vshrq_n_u16(LanesInUse(used), kLaneBits - 1);
  const uint16x8_t bits = vshlq_u16(one, vreinterpretq_s16_u16(shift));
  return !AnyLane(vbicq_u16(bits, values));
}

// A line takes four registers, so setting single bits costs less than whole lines.
inline void SetFields(unsigned char* line, std::uint64_t word, int used, std::uint64_t next_word,
                      int next_used) {
  SetEachField(line, word, used);
  SetEachField(line, next_word, next_used);
}

// The first fields in lanes of their own, and numbers from `unused` on in the other lanes.
inline uint16x8_t ComparableLanes(std::uint64_t word, int used, std::uint16_t unused) {
  const uint16x8_t others = vaddq_u16(vld1q_u16(kLaneNumbers), vdupq_n_u16(unused));
  return vbslq_u16(LanesInUse(used), vshrq_n_u16(FieldLanes(word), kBelowField), others);
}

// Each lane compared with the one kTurn further on, all ones where they are equal.
template <int kTurn>
uint16x8_t EqualLanes(uint16x8_t lanes, uint16x8_t others) {
  return vceqq_u16(lanes, vextq_u16(others, others, kTurn));
}

// All pairs of lanes of one vector meet in half of the turns.
inline uint16x8_t EqualLanes(uint16x8_t lanes) {
  return vorrq_u16(vorrq_u16(EqualLanes<1>(lanes, lanes), EqualLanes<2>(lanes, lanes)),
                   vorrq_u16(EqualLanes<3>(lanes, lanes), EqualLanes<4>(lanes, lanes)));
}

bool AnyEqual(std::uint64_t word, int used) {
  return AnyLane(EqualLanes(ComparableLanes(word, used, kNoField)));
}

bool AnyEqual(std::uint64_t first, std::uint64_t second, int used) {
  const uint16x8_t a = ComparableLanes(first, kFieldsOfWord, kNoField);
  const uint16x8_t b = ComparableLanes(second, used, kNoField + kLanes);
  const uint16x8_t even = vorrq_u16(vorrq_u16(EqualLanes<0>(a, b), EqualLanes<2>(a, b)),
                                    vorrq_u16(EqualLanes<4>(a, b), EqualLanes<6>(a, b)));
  const uint16x8_t odd = vorrq_u16(vorrq_u16(EqualLanes<1>(a, b), EqualLanes<3>(a, b)),
                                   vorrq_u16(EqualLanes<5>(a, b), EqualLanes<7>(a, b)));
  return AnyLane(vorrq_u16(vorrq_u16(EqualLanes(a), EqualLanes(b)), vorrq_u16(even, odd)));
}

#include "group_of_one-inl.h"
#include "line_kernel-inl.h"

}  // namespace

const Kernel& NeonKernel(const FilterDescription& filter) {
  return filter.layout.InLines() ? LineKernelFor(filter) : ScalarKernel(filter);
}

}  // namespace exactbloom::filter

#endif
