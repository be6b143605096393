// What `exactbloom plan` is asked, and what a filter of its answer is.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"
#include "exactbloom/levels.h"
#include "filter/block_format.h"

namespace exactbloom::tool {

struct Question {
  Layout layout;
  std::uint64_t keys = 0;
  std::vector<std::uint64_t> levels;
  std::optional<double> bits_per_key;
  std::optional<double> rate;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> wasted_reads;
  BottommostFilter bottommost = BottommostFilter::kBloom;
  std::optional<int> last_level;
  bool json = false;
};

struct FilterPlan {
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;  // 0: no filter
  int probes = 0;          // 0: a Ribbon filter
  double rate = 1.0;

  double BitsPerKey() const { return static_cast<double>(bits) / static_cast<double>(keys); }
  std::uint64_t MemoryBytes() const;
};

// Says why a question has no answer.
[[noreturn]] void Refuse(const std::string& what);
void CheckBitsPerKey(double bits_per_key);
void CheckKeys(std::uint64_t keys);

FilterPlan PlanOf(Layout layout, std::uint64_t keys, std::uint64_t bits);

// Whole bytes, or whole lines, as a builder makes them, but without the limit of one block: a plan
// may be for the keys of many tables.
std::uint64_t BitsAt(Layout layout, std::uint64_t keys, double bits_per_key);

// The bits of the arrays of so many filters in the memory that was asked about.
std::uint64_t BitsInMemory(const Question& question, std::size_t filters);

// The bits per key to configure so that a table of these keys gets at least the planned bits: fewer
// digits are easier to read, and a thousandth of a bit is nothing.
double ConfiguredBitsPerKey(const FilterPlan& plan);

nlohmann::json JsonOf(const FilterPlan& plan);

// Answers for the levels of a tree.
void RunLevels(const Question& question);

}  // namespace exactbloom::tool
