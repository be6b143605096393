#include "near_misses.h"

#include <random>
#include <unordered_set>

namespace exactbloom::readamp {
namespace {

// How many rounds over the stored keys may find nothing new.
constexpr int kRounds = 16;

char AnyCharacter(const KeySet& keys, std::mt19937_64& random) {
  const std::string key = keys.Key(random() % keys.size());
  return key.empty() ? '\0' : key[random() % key.size()];
}

}  // namespace

std::vector<std::string> MakeNearMisses(const KeySet& keys, std::size_t count) {
  std::mt19937_64 random(keys.seed);
  std::unordered_set<std::string> used;
  std::vector<std::string> result;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < keys.size() && result.size() < count; ++i) {
      if (keys.SortedRun(i) == kAbsent) continue;
      std::string key = keys.Key(i);
      if (key.empty()) continue;
      key[random() % key.size()] = AnyCharacter(keys, random);
      if (keys.Find(key) || !used.insert(key).second) continue;
      result.push_back(std::move(key));
    }
  }
  return result;
}

}  // namespace exactbloom::readamp
