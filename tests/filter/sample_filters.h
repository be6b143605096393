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
#include "exactbloom/sizing.h"
#include "src/filter/kernels/code_word.h"

namespace exactbloom {

// All kinds of filters and of Bloom filters, and their names as parts of a test's name.
std::vector<FilterKind> FilterKinds();
std::vector<BloomKind> BloomKinds();
std::string NameOf(FilterKind kind);
std::string NameOf(BloomKind kind);

// The kind of filters of which `kind` is the Bloom kind.
FilterKind ToFilterKind(BloomKind kind);

// What a builder gives a Bloom filter of so many keys.
FilterSize SizeAtBitsPerKey(BloomKind kind, std::uint64_t keys, double bits_per_key);

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

// Adds the keys of the numbers first, first + 1, ...
void AddNumbers(FilterBuilder& builder, std::uint64_t count, std::uint64_t first = 0);

// Returns how many of these keys pass. Asks for each of them by itself and in batches, and expects
// the same answers.
std::uint64_t CountPassing(const FilterView& view, std::uint64_t count, std::uint64_t first = 0);

// Expects that two filters have equal parameters.
void ExpectEqual(const FilterDescription& one, const FilterDescription& other);

// Sets the bits of a code word.
void AddWord(unsigned char* array, const filter::CodeWord& word);

// Gives the block the checksum that its trailer and its length should have, if they make sense.
void MendChecksum(std::string& block);

// The block of a filter that holds the keys first_key, first_key + 1, ...
FilterBlock MakeBlock(const Geometry& geometry, std::uint64_t hash_seed, std::uint64_t first_key);

}  // namespace exactbloom
