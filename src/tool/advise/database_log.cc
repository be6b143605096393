#include "database_log.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace exactbloom::tool {
namespace {

using Counter = std::pair<const char*, std::uint64_t FilterCounters::*>;

constexpr std::array<Counter, 6> kCounters = {{
    {"rocksdb.number.keys.read", &FilterCounters::lookups},
    {"rocksdb.bloom.filter.useful", &FilterCounters::useful},
    {"rocksdb.bloom.filter.full.positive", &FilterCounters::positives},
    {"rocksdb.bloom.filter.full.true.positive", &FilterCounters::true_positives},
    {"rocksdb.block.cache.filter.hit", &FilterCounters::cache_hits},
    {"rocksdb.block.cache.filter.miss", &FilterCounters::cache_misses},
}};

// The number behind `words` in a line.
std::optional<std::uint64_t> NumberAfter(const std::string& line, const std::string& words) {
  const std::size_t place = line.find(words);
  if (place == std::string::npos) return std::nullopt;
  const char* const begin = line.c_str() + place + words.size();
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(begin, &end, 10);
  return end == begin ? std::nullopt : std::optional(number);
}

void ReadCounter(const std::string& line, LogFindings* findings) {
  const auto number = NumberAfter(line, " COUNT : ");
  if (!number) return;
  const std::string name = line.substr(0, line.find(' '));
  for (const auto& [counter, member] : kCounters) {
    if (name != counter) continue;
    if (!findings->counters) findings->counters.emplace();
    (*findings->counters).*member = *number;
  }
}

}  // namespace

std::uint64_t FilterCounters::FalsePositives() const {
  return positives - std::min(positives, true_positives);
}

LogFindings ReadLog(std::istream& text) {
  const std::string heading = "Options for column family [";
  LogFindings findings;
  std::string family;  // whose options the lines belong to
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("rocksdb.", 0) == 0) {
      ReadCounter(line, &findings);
      continue;
    }
    const std::size_t begin = line.find(heading);
    if (begin != std::string::npos) {
      family = line.substr(begin + heading.size());
      family.resize(std::min(family.rfind(']'), family.size()));
    }
    const auto capacity = NumberAfter(line, "    capacity : ");
    if (!capacity || family.empty()) continue;
    findings.block_caches[family] = *capacity;
    family.clear();  // what follows is the compressed cache's
  }
  return findings;
}

LogFindings ReadDatabaseLog(const std::string& database) {
  std::ifstream file(database + "/LOG");
  return ReadLog(file);
}

}  // namespace exactbloom::tool
