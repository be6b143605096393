// A filter of a cache-line layout that follows layout.h word by word, with random keys.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // Steele, Lea, Flood 2014.
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t Below(std::uint64_t range) {
    __extension__ using Product = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Product>(Next()) * range) >> 64);
  }

 private:
  std::uint64_t state_;
};

class SimulatedFilter {
 public:
  SimulatedFilter(Layout layout, std::uint64_t bits, int probes, Random& random)
      : layout_(layout), lines_(bits / kLineBits), probes_(probes), random_(random), ones_(bits) {}

  void AddKey() {
    ForEachWord([this](std::uint64_t line, int bits) {
      std::array<std::uint64_t, kMaxProbes> word{};
      for (int i = 0; i < bits; ++i) {
        word[static_cast<std::size_t>(i)] = DrawBit(word, i);
        ones_[line * kLineBits + word[static_cast<std::size_t>(i)]] = 1;
      }
      return true;
    });
  }

  // Whether an absent key hits.
  bool Hits() {
    return ForEachWord([this](std::uint64_t line, int bits) {
      std::array<std::uint64_t, kMaxProbes> word{};
      for (int i = 0; i < bits; ++i) {
        const std::uint64_t bit = DrawBit(word, i);
        if (ones_[line * kLineBits + bit] == 0) return false;
        word[static_cast<std::size_t>(i)] = bit;
      }
      return true;
    });
  }

  std::uint64_t Bits() const { return ones_.size(); }
  std::uint64_t Ones() const {
    return static_cast<std::uint64_t>(std::count(ones_.begin(), ones_.end(), 1));
  }

 private:
  template <typename Action>
  bool ForEachWord(Action action) {
    const std::uint64_t first = random_.Below(lines_);
    if (layout_.placement == BitPlacement::kOneLine) return action(first, probes_);
    const std::uint64_t pages = std::max<std::uint64_t>(1, lines_ / kPageLines);
    const std::uint64_t page = std::min(first / kPageLines, pages - 1);
    const std::uint64_t begin = page * kPageLines;
    const std::uint64_t end = page + 1 == pages ? lines_ : begin + kPageLines;
    std::uint64_t second = begin + random_.Below(end - begin - 1);
    if (second >= first) ++second;
    return action(first, probes_ / 2) && action(second, probes_ / 2);
  }

  // By rejection, the simplest way to draw distinct bits.
  std::uint64_t DrawBit(const std::array<std::uint64_t, kMaxProbes>& word, int drawn) {
    for (;;) {
      const std::uint64_t bit = random_.Below(kLineBits);
      bool taken = false;
      if (layout_.kind == FilterKind::kClassic) {
        for (int i = 0; i < drawn; ++i) taken |= word[static_cast<std::size_t>(i)] == bit;
      }
      if (!taken) return bit;
    }
  }

  Layout layout_;
  std::uint64_t lines_;
  int probes_;
  Random& random_;
  std::vector<char> ones_;
};

}  // namespace exactbloom
