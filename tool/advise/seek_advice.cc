// advise: what serves seeks, which filters of whole keys do not.
#include <algorithm>
#include <cctype>
#include <memory>

#include "advise.h"
#include "tool/database/table_keys.h"

namespace exactbloom::tool {
namespace {

constexpr std::size_t kMostKeys = 20'000;
constexpr std::size_t kMostBytes = 256;  // of a prefix

// The keys at the beginning of the largest table of a column family.
std::vector<std::string> ReadSomeKeys(const std::string& column_family,
                                      const Inspection& inspection) {
  const TableReport* largest = nullptr;
  for (const TableReport& table : inspection.tables) {
    const bool counts = table.location.column_family == column_family && table.NeedsFilter();
    if (counts && (largest == nullptr || table.filter.entries > largest->filter.entries)) {
      largest = &table;
    }
  }
  std::vector<std::string> some;
  std::unique_ptr<TableKeys> keys;
  if (largest == nullptr || !TableKeys::Open(largest->location.path, &keys).ok()) return some;
  for (; keys->Valid() && some.size() < kMostKeys; keys->Next()) {
    some.push_back(keys->Key().ToString());
  }
  return some;
}

// By each length, how many different prefixes consecutive keys have. Shorter keys are their own.
std::vector<std::size_t> CountPrefixes(const std::vector<std::string>& keys) {
  std::size_t longest = 0;
  for (const std::string& key : keys) longest = std::max(longest, key.size());
  std::vector<std::size_t> counts(std::min(longest, kMostBytes) + 1, keys.empty() ? 0 : 1);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const std::size_t common = rocksdb::Slice(keys[i - 1]).difference_offset(keys[i]);
    for (std::size_t length = common + 1; length < counts.size(); ++length) ++counts[length];
  }
  return counts;
}

// Whether all keys have the same punctuation mark there.
bool IsMark(const std::vector<std::string>& keys, std::size_t place) {
  const auto is_it = [&](const std::string& key) {
    return key.size() > place && key[place] == keys.front()[place];
  };
  return is_it(keys.front()) &&
         std::ispunct(static_cast<unsigned char>(keys.front()[place])) != 0 &&
         std::all_of(keys.begin(), keys.end(), is_it);
}

// The same column family with a filter of its prefixes.
Tree WithPrefixes(Tree tree, double keys_per_prefix) {
  const auto scale = [&](TableGroup& group) {
    group.keys = std::max(group.tables, static_cast<std::uint64_t>(static_cast<double>(group.keys) /
                                                                   keys_per_prefix));
  };
  for (auto& [level, groups] : tree.levels) {
    for (TableGroup& group : groups) {
      scale(group);
      for (TableGroup& size : group.sizes) scale(size);
    }
  }
  return tree;
}

}  // namespace

std::size_t FindPrefixLength(const std::vector<std::string>& keys) {
  constexpr std::size_t kFewest = 16;        // groups
  constexpr double kLeastKeysOfGroup = 1.5;  // on average
  constexpr double kSameGroups = 1.02;
  const std::vector<std::size_t> counts = CountPrefixes(keys);
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::size_t begin = 1; begin < counts.size(); ++begin) {
    const auto groups = static_cast<double>(counts[begin]);
    if (counts[begin] < kFewest || static_cast<double>(keys.size()) < kLeastKeysOfGroup * groups) {
      continue;
    }
    std::size_t end = begin;
    while (end + 1 < counts.size() &&
           static_cast<double>(counts[end + 1]) <= kSameGroups * groups) {
      ++end;
    }
    if (end - begin > last - first) {
      first = begin;
      last = end;
    }
  }
  if (first == 0) return 0;
  for (std::size_t length = first; length <= last; ++length) {
    if (IsMark(keys, length)) return length;
  }
  for (const std::size_t unit : {std::size_t{8}, std::size_t{4}}) {
    if (last / unit * unit >= first) return last / unit * unit;
  }
  return last;
}

SeekAdvice AdviseOnSeeks(const Tree& tree, const TreePlan& setting, const Inspection& inspection) {
  SeekAdvice advice;
  advice.reads_now = static_cast<double>(tree.Runs());
  advice.reads_then = advice.reads_now;
  const std::vector<std::string> keys = ReadSomeKeys(tree.column_family, inspection);
  advice.prefix_bytes = FindPrefixLength(keys);
  if (advice.prefix_bytes == 0) return advice;
  const std::size_t groups = CountPrefixes(keys)[advice.prefix_bytes];
  advice.keys_per_prefix = static_cast<double>(keys.size()) / static_cast<double>(groups);
  const TreePlan plan =
      PlanOf(setting.options, WithPrefixes(tree, advice.keys_per_prefix), setting.ribbonfilter);
  double asked = 0.0;
  for (const PlannedGroup& group : plan.tables) asked += group.asked;
  // A seek also asks the next table of a level whose gap it lies in.
  if (asked > 0.0) advice.reads_then *= plan.filters.wasted_reads / asked;
  return advice;
}

}  // namespace exactbloom::tool
