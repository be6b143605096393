// Measured equals exact for keys as databases have them, with structure that a weak hash would pass
// on to the filter. Every other key of a set is added, so that an absent key lies among those that
// are there; all sets, kinds and sizes have one verdict (statistics.h), which a correct filter
// would, with random seeds, fail once in 10,000 times.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter.h"
#include "rate_sample.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

constexpr std::size_t kKeys = 40000;
constexpr std::uint64_t kQueries = 400000;  // for each set, kind and size

// Where the words come from; scripts/install_packages names the package.
constexpr const char* kDictionary = "/usr/share/dict/american-english-insane";

using Texts = std::vector<std::string>;  // all different, in an order of their own

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

Texts Numbered(std::string (*key_of)(std::uint64_t), std::size_t count = kKeys) {
  Texts keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(key_of(i));
  return keys;
}

Texts Uuids() {
  std::mt19937_64 random(4122);
  Texts keys;
  for (std::size_t i = 0; i < kKeys; ++i) keys.push_back(Uuid(random));
  return keys;
}

Texts Words() {
  Texts keys;
  std::ifstream file(kDictionary);
  for (std::string word; keys.size() < kKeys && std::getline(file, word);) keys.push_back(word);
  return keys;
}

Keys EveryOther(const Texts& texts, std::size_t first) {
  Keys keys;
  for (std::size_t i = first; i < texts.size(); i += 2) keys.push_back(texts[i]);
  return keys;
}

using KeySets = std::vector<std::pair<const char*, Texts>>;

// Keys of a Gray code differ from their neighbours in one bit, long keys from one key in one each.
KeySets MakeKeySets() {
  return {{"words", Words()},
          {"paths", Numbered(Path)},
          {"UUIDs", Uuids()},
          {"big-endian", Numbered(BigEndian)},
          {"little-endian", Numbered(LittleEndian)},
          {"decimal", Numbered(Decimal)},
          {"Gray code", Numbered(Gray)},
          {"one bit", Numbered(OneBit, 512 * 8)}};
}

TEST(Rate, PValuesOfRealKeysAreUniform) {
  const KeySets sets = MakeKeySets();
  ASSERT_EQ(sets.front().second.size(), kKeys) << "no " << kDictionary;
  constexpr std::uint64_t kSaltsSeed = 21;
  std::mt19937_64 salts(kSaltsSeed);
  SampleVerdict verdict(22);
  for (const auto& [name, keys] : sets) {
    SCOPED_TRACE(name);
    const Keys present = EveryOther(keys, 0);
    const Keys absent = EveryOther(keys, 1);
    for (const BloomKind kind : BloomKinds()) {
      for (const double bits_per_key : {3.3, 8.0}) {
        const FilterSize size = SizeAtBitsPerKey(kind, present.size(), bits_per_key);
        const Geometry geometry{kind, size.bits, present.size(), size.probes};
        verdict.Add(TakeSample(geometry, present, absent, kQueries / absent.size(), salts));
      }
    }
  }
  verdict.Expect(kSaltsSeed);
}

}  // namespace
}  // namespace exactbloom
