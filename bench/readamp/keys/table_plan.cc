#include "table_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace exactbloom::readamp {
namespace {

// A table's place among all keys.
struct TableRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  double density = 0.0;  // entries per key
};

class TableDraw {
 public:
  TableDraw(const std::vector<UserTable>& tables, const std::vector<std::string>& keys) {
    const auto first = keys.begin();
    for (const UserTable& table : tables) {
      const auto begin = std::partition_point(
          first, keys.end(), [&table](const std::string& key) { return key < table.smallest; });
      const auto end = std::partition_point(
          begin, keys.end(), [&table](const std::string& key) { return key <= table.largest; });
      const auto count = static_cast<double>(std::max<std::ptrdiff_t>(1, end - begin));
      if (first_of_run_.size() == static_cast<std::size_t>(table.sorted_run)) {
        first_of_run_.push_back(ranges_.size());
      }
      ranges_.push_back({static_cast<std::size_t>(begin - first),
                         static_cast<std::size_t>(end - first),
                         static_cast<double>(table.entries) / count});
    }
    first_of_run_.push_back(ranges_.size());
  }

  // The table that the key with this number goes to; nothing if no table's range holds it.
  std::optional<std::size_t> Draw(std::size_t number, std::mt19937_64& random) {
    holders_.clear();
    double total = 0.0;
    for (std::size_t run = 0; run + 1 < first_of_run_.size(); ++run) {
      const std::optional<std::size_t> table = Holder(run, number);
      if (!table) continue;
      holders_.push_back(*table);
      total += ranges_[*table].density;
    }
    if (holders_.empty()) return std::nullopt;
    constexpr int kUnusedBits = 11;
    double rest =
        std::ldexp(static_cast<double>(random() >> kUnusedBits), kUnusedBits - 64) * total;
    for (const std::size_t table : holders_) {
      rest -= ranges_[table].density;
      if (rest < 0.0) return table;
    }
    return holders_.back();
  }

 private:
  std::optional<std::size_t> Holder(std::size_t run, std::size_t number) const {
    const auto begin = ranges_.begin() + static_cast<std::ptrdiff_t>(first_of_run_[run]);
    const auto end = ranges_.begin() + static_cast<std::ptrdiff_t>(first_of_run_[run + 1]);
    const auto found = std::partition_point(
        begin, end, [number](const TableRange& range) { return range.end <= number; });
    if (found == end || found->begin > number) return std::nullopt;
    return static_cast<std::size_t>(found - ranges_.begin());
  }

  std::vector<TableRange> ranges_;
  std::vector<std::size_t> first_of_run_;  // and the number of all
  std::vector<std::size_t> holders_;
};

}  // namespace

std::vector<std::int8_t> AssignToRuns(const std::vector<UserTable>& tables,
                                      const std::vector<std::string>& keys,
                                      const std::vector<std::uint32_t>& numbers,
                                      std::mt19937_64& random) {
  std::vector<std::int8_t> assigned;
  TableDraw draw(tables, keys);
  for (const std::uint32_t number : numbers) {
    const std::optional<std::size_t> table = draw.Draw(number, random);
    assigned.push_back(static_cast<std::int8_t>(table ? tables[*table].sorted_run : kAbsent));
  }
  return assigned;
}

}  // namespace exactbloom::readamp
