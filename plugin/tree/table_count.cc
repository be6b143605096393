#include "table_count.h"

#include <algorithm>
#include <cmath>

namespace exactbloom::tree {

void Tally::Add(const TableCount& count) {
  ++tables;
  keys += count.keys;
  (count.filter_bytes ? filter_bytes : unknown_keys) += count.filter_bytes.value_or(count.keys);
  if (count.filter_bytes == std::uint64_t{0}) unfiltered_keys += count.keys;
}

void Tally::Add(const Tally& other) {
  tables += other.tables;
  keys += other.keys;
  filter_bytes += other.filter_bytes;
  unknown_keys += other.unknown_keys;
  unfiltered_keys += other.unfiltered_keys;
}

Tally Tally::Filtered() const {
  Tally filtered = *this;
  filtered.keys -= unfiltered_keys;
  filtered.unfiltered_keys = 0;
  return filtered;
}

void Tally::Subtract(const TableCount& count) {
  Tally other;
  other.Add(count);
  Subtract(other);
}

void Tally::Subtract(const Tally& other) {
  tables -= std::min(tables, other.tables);
  keys -= std::min(keys, other.keys);
  filter_bytes -= std::min(filter_bytes, other.filter_bytes);
  unknown_keys -= std::min(unknown_keys, other.unknown_keys);
  unfiltered_keys -= std::min(unfiltered_keys, other.unfiltered_keys);
}

RunClass RunClassOf(int level, std::uint64_t keys) {
  constexpr double kClassesPerDoubling = 8.0;  // sizes in a class differ by less than a tenth
  if (level != 0) return {level, 0};
  return {0, static_cast<int>(kClassesPerDoubling * std::log2(static_cast<double>(keys + 1)))};
}

Tally TallyOfLevel(const Tallies& tallies, int level) {
  Tally sum;
  for (const auto& [run, tally] : tallies) {
    if (run.first == level) sum.Add(tally);
  }
  return sum;
}

Tally TallyOfAll(const Tallies& tallies) {
  Tally sum;
  for (const auto& [run, tally] : tallies) sum.Add(tally);
  return sum;
}

}  // namespace exactbloom::tree
