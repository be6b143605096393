// The arguments of `exactbloom plan`, and a filter of its answer.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exactbloom/layout.h"
#include "filter/block_format.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

struct FilterPlan {
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;  // 0: no filter
  int probes = 0;          // 0: a Ribbon filter
  double rate = 1.0;

  double BitsPerKey() const { return static_cast<double>(bits) / static_cast<double>(keys); }
  std::uint64_t MemoryBytes() const;
};

// Says why a request has no answer.
[[noreturn]] void Refuse(const std::string& what);
void CheckBitsPerKey(double bits_per_key);
void CheckKeys(std::uint64_t keys);

FilterPlan PlanOf(Layout layout, std::uint64_t keys, std::uint64_t bits);

// Whole bytes, or whole lines, as a builder makes them, but without the limit of one block: a plan
// may be for the keys of many tables.
std::uint64_t BitsAt(Layout layout, std::uint64_t keys, double bits_per_key);

// The bits of the arrays of `filters` filters in the given memory.
std::uint64_t BitsInMemory(const PlanArguments& arguments, std::size_t filters);

// The bits per key to configure so that a table of these keys gets at least the planned bits: fewer
// digits are easier to read, and a thousandth of a bit is negligible.
double ConfiguredBitsPerKey(const FilterPlan& plan);

nlohmann::json JsonOf(const FilterPlan& plan);

// Answers for the levels of a tree.
void RunLevels(const PlanArguments& arguments);

}  // namespace exactbloom::tool
