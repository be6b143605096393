#include "nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace exactbloom::support {
namespace {

// The edit distance: insertions, deletions, replacements, and exchanges of neighbouring letters.
std::size_t Distance(std::string_view one, std::string_view other) {
  // The distances of the beginnings of `one` to those of `other`, the last three rows of them.
  std::vector<std::size_t> before_last(other.size() + 1);
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool are_exchanged =
          i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (are_exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string NearestName(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kLettersPerError = 3;
  constexpr std::size_t kLeastBeginning = 3;
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / kLettersPerError) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = Distance(word, name);
    if (distance >= least || distance >= name.size()) continue;
    least = distance;
    nearest = name;
  }
  if (!nearest.empty() || word.size() < kLeastBeginning) return nearest;
  const auto longer = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return name.compare(0, word.size(), word) == 0;
  });
  return longer == names.end() ? "" : *longer;
}

std::string WhatWasMeant(std::string_view word, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(word, names);
  return nearest.empty() ? fmt::format(": it is not one of {}", fmt::join(names, ", "))
                         : fmt::format(": did you mean {}?", nearest);
}

}  // namespace exactbloom::support
