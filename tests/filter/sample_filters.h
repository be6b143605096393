// Filters of any geometry, where the builder only makes those of its own sizing, and the keys that
// the tests put into them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/layout.h"
#include "src/filter/kernels/code_word.h"

namespace exactbloom {

// Both kinds, and their names as parts of a test's name.
std::vector<BloomKind> AllKinds();
std::string NameOf(BloomKind kind);

struct Geometry {
  BloomKind kind = BloomKind::kClassic;
  std::uint64_t bits = 0;
  std::uint64_t keys = 0;
  int probes = 0;
};

// The key of a number: its eight bytes. Different numbers are different keys.
class NumberKey {
 public:
  explicit NumberKey(std::uint64_t number) { std::memcpy(bytes_.data(), &number, sizeof number); }

  std::string_view text() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::array<char, sizeof(std::uint64_t)> bytes_;
};

// Sets the bits of a code word.
void AddWord(unsigned char* array, const filter::CodeWord& word);

// Gives the block the checksum that its trailer and its length should have, if they make sense.
void MendChecksum(std::string& block);

// The block of a filter that holds the keys first_key, first_key + 1, ...
FilterBlock MakeBlock(const Geometry& geometry, std::uint64_t hash_seed, std::uint64_t first_key);

}  // namespace exactbloom
