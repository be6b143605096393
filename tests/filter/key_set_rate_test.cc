// Measured equals exact for keys as databases have them, with structure that a weak hash would pass
// on to the filter. Every other key of a set is added, so that an absent key lies among those that
// are there; all sets, layouts and sizes have one verdict (statistics.h), which a correct filter
// would, with random seeds, fail once in 10,000 times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "rate_sample.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

constexpr std::size_t kKeys = 40000;
constexpr std::uint64_t kQueries = 400000;  // for each set, layout and size

// Where the words come from; scripts/install_packages names the package.
constexpr const char* kDictionary = "/usr/share/dict/american-english-insane";

struct KeySet {
  std::string name;
  std::vector<std::string> keys;  // all different, in an order of their own
};

std::string BigEndian(std::uint64_t number) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(number >> shift);
  return key;
}

std::string LittleEndian(std::uint64_t number) {
  const std::string key = BigEndian(number);
  return {key.rbegin(), key.rend()};
}

std::string Decimal(std::uint64_t number) { return std::to_string(number); }

// Sixteen bytes, so that the number is in the middle of the key.
std::string Gray(std::uint64_t number) {
  return "user" + BigEndian(number ^ (number >> 1)) + "data";
}

// A directory has a hundred files, and a directory above it ten directories.
std::string Path(std::uint64_t number) {
  const std::string directory = std::to_string(number / 100);
  return "/srv/mail/domain" + std::to_string(number / 1000) + "/user" + directory +
         "/Maildir/cur/" + std::to_string(1700000000 + number * 7) + ".M" + directory + "P" +
         std::to_string(number % 100) + ".host:2,S";
}

// Version 4, in the notation of RFC 4122.
std::string Uuid(std::mt19937_64& random) {
  constexpr const char* kForm = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  std::string key = kForm;
  for (char& c : key) {
    if (c == 'x') c = "0123456789abcdef"[random() % 16];
    if (c == 'y') c = "89ab"[random() % 4];
  }
  return key;
}

// One bit of 512 bytes.
std::string OneBit(std::uint64_t number) {
  std::string key(512, 'k');
  key[number / 8] = static_cast<char>(key[number / 8] ^ (1 << (number % 8)));
  return key;
}
constexpr std::size_t kOneBitKeys = 512 * 8;

KeySet Numbered(const char* name, std::string (*key_of)(std::uint64_t), std::size_t count) {
  KeySet set{name, {}};
  for (std::size_t i = 0; i < count; ++i) set.keys.push_back(key_of(i));
  return set;
}

KeySet Uuids(std::size_t count) {
  std::mt19937_64 random(4122);
  KeySet set{"UUIDs", {}};
  for (std::size_t i = 0; i < count; ++i) set.keys.push_back(Uuid(random));
  return set;
}

KeySet Words(std::size_t count) {
  KeySet set{"words", {}};
  std::ifstream file(kDictionary);
  for (std::string word; set.keys.size() < count && std::getline(file, word);) {
    set.keys.push_back(word);
  }
  return set;
}

// Words of the dictionary, paths of files, UUIDs as text, consecutive integers in both orders of
// bytes and as text, keys of a Gray code, whose neighbours differ in one bit, and long keys that
// differ from one key in one bit each. At most `most` keys of each; there are no words if there is
// no dictionary.
std::vector<KeySet> RealKeySets(std::size_t most) {
  std::vector<KeySet> sets = {Numbered("paths", Path, most),
                              Uuids(most),
                              Numbered("big-endian", BigEndian, most),
                              Numbered("little-endian", LittleEndian, most),
                              Numbered("decimal", Decimal, most),
                              Numbered("Gray code", Gray, most),
                              Numbered("one bit", OneBit, std::min(most, kOneBitKeys))};
  KeySet words = Words(most);
  if (!words.keys.empty()) sets.push_back(std::move(words));
  return sets;
}

Keys EveryOther(const KeySet& set, std::size_t first) {
  Keys keys;
  for (std::size_t i = first; i < set.keys.size(); i += 2) keys.push_back(set.keys[i]);
  return keys;
}

TEST(Rate, PValuesOfRealKeysAreUniform) {
  const std::vector<KeySet> sets = RealKeySets(kKeys);
  ASSERT_EQ(sets.back().name, "words") << "no " << kDictionary;
  std::mt19937_64 salts(21);
  SampleVerdict verdict(22);
  for (const KeySet& set : sets) {
    SCOPED_TRACE(set.name);
    const Keys present = EveryOther(set, 0);
    const Keys absent = EveryOther(set, 1);
    for (const Layout layout : AllLayouts()) {
      for (const double bits_per_key : {3.3, 8.0}) {
        const FilterSize size = SizeAtBitsPerKey(layout, present.size(), bits_per_key);
        const Geometry geometry{layout, size.bits, present.size(), size.probes};
        verdict.Add(TakeSample(geometry, present, absent, kQueries / absent.size(), salts));
      }
    }
  }
  verdict.Expect(std::getenv("EXACTBLOOM_RATE_QUERIES") != nullptr);
}

}  // namespace
}  // namespace exactbloom
