// A tree of a column family, and what RocksDB has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugin/live_tree/tree.h"

namespace exactbloom::tree {

inline constexpr double kBits = 10.0;

inline TableFacts FactsOf(std::uint64_t number) { return {100 * number, 125 * number, 0, 0}; }

// What RocksDB has, and what the tree was told.
struct World {
  Tables tables;
  Tree tree{tables};
  std::map<std::uint64_t, int> version;  // levels, by number
  std::map<std::uint64_t, int> listed;   // by the listing that is taken
  bool is_told_all = true;               // no event was lost, and no job was unknown

  std::uint64_t FilterBytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [number, level] : version) bytes += FactsOf(number).filter_bytes;
    return bytes;
  }

  // Lists the tables, with the properties of all.
  void List() {
    tables.BeginListing();
    Replace(version);
  }

  void Replace(const std::map<std::uint64_t, int>& listed_tables) {
    for (const auto& [number, level] : listed_tables) {
      tables.TakeOver({number, level, FactsOf(number)}, tree, false);
    }
    Sweep();
  }

  // In pieces of two tables.
  void Sweep() {
    std::optional<std::uint64_t> next = 0;
    while (next) next = tables.Sweep(*next, 2);
  }

  // Nothing, or where the tree differs from the version.
  std::string FindDifference() const {
    std::map<int, TableSum> truth;
    for (const auto& [number, level] : version) {
      truth[level].tables += 1;
      truth[level].keys += FactsOf(number).keys;
      truth[level].filter_bytes += FactsOf(number).filter_bytes;
    }
    std::map<int, TableSum> known;
    for (const auto& [place, sum] : tree.ListAll()) known[place.level].Add(sum);
    std::string text;
    for (int level = 0; level < 8; ++level) {
      const TableSum& is = known[level];
      const TableSum& should = truth[level];
      if (is.tables == should.tables && is.keys == should.keys &&
          is.filter_bytes == should.filter_bytes) {
        continue;
      }
      text += "level " + std::to_string(level) + ": " + std::to_string(is.tables) + " tables, " +
              std::to_string(is.keys) + " keys instead of " + std::to_string(should.tables) +
              " and " + std::to_string(should.keys) + "; ";
    }
    if (tree.All().filter_bytes != FilterBytes()) {
      text += std::to_string(tree.All().filter_bytes) + " bytes instead of " +
              std::to_string(FilterBytes());
    }
    return text;
  }
};

inline NamedFiles FilesOf(const std::vector<std::uint64_t>& numbers, int level) {
  NamedFiles files;
  for (const std::uint64_t number : numbers) files.push_back({number, level, FactsOf(number)});
  return files;
}

inline TableSum Amount(std::uint64_t bytes, std::uint64_t floor_bytes = 0) {
  TableSum amount;
  amount.filter_bits = 8 * bytes;
  amount.filter_bytes = bytes;
  amount.floor_bytes = floor_bytes;
  return amount;
}

inline void Reserve(Tables& tables, std::uint64_t number, std::uint64_t bytes) {
  tables.Reserve(number, Amount(bytes), true);
}

using Version = std::map<std::uint64_t, int>;

inline void Begin(World& world, const Version& version) {
  world.version = version;
  if (!version.empty()) world.List();
}

}  // namespace exactbloom::tree
