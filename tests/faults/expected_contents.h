// The answers that a database must give: a copy of it in memory.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "family_database.h"
#include "sample_database.h"

namespace exactbloom::faults {

using Value = std::optional<std::string>;  // nothing: deleted, or never written

// Keys are numbers; KeyOf(2 * number) (sample_database.h) is what the database sees.
using Writes = std::vector<std::pair<std::uint64_t, Value>>;

class ExpectedContents {
 public:
  explicit ExpectedContents(std::uint64_t keys) : keys_(keys) {
    for (std::uint64_t number = 0; number < 2 * keys; ++number) texts_.push_back(KeyOf(number));
  }

  std::uint64_t Keys() const { return keys_.size(); }

  // A write that the database acknowledged, or one that failed: it may appear later, wholly or in
  // part.
  void Acknowledge(const Writes& writes) {
    for (const auto& [key, value] : writes) keys_[key] = {value, {}};
  }
  void Attempt(const Writes& writes) {
    for (const auto& [key, value] : writes) keys_[key].attempted.push_back(value);
  }

  // Whether this is a possible answer: an allowed value, or an error.
  bool Allows(std::uint64_t key, const rocksdb::Status& status, const std::string& value) const {
    if (status.ok()) return Allows(key, Value(value));
    return !status.IsNotFound() || Allows(key, std::nullopt);
  }

  // Reads everything, without faults: with an iterator, Get and MultiGet. Returns what is wrong, or
  // an empty text. Keys that were never written are asked for, too.
  std::string FindDifference(const FamilyDatabase& db) const {
    std::vector<Value> found;
    return Read(db, &found);
  }

  // The same after a reopening, which decides the fate of the failed writes.
  std::string Settle(const FamilyDatabase& db) {
    std::vector<Value> found;
    std::string difference = Read(db, &found);
    for (std::uint64_t key = 0; key < Keys(); ++key) keys_[key] = {found[key], {}};
    return difference;
  }

 private:
  struct Key {
    Value acknowledged;
    std::vector<Value> attempted;  // since then
  };

  bool Allows(std::uint64_t key, const Value& value) const {
    const auto& attempted = keys_[key].attempted;
    return value == keys_[key].acknowledged ||
           std::find(attempted.begin(), attempted.end(), value) != attempted.end();
  }

  std::string Read(const FamilyDatabase& db, std::vector<Value>* found) const {
    const std::string difference = Scan(db, found);
    return difference.empty() ? Look(db, *found) : difference;
  }

  std::string Scan(const FamilyDatabase& db, std::vector<Value>* found) const {
    found->assign(Keys(), std::nullopt);
    constexpr std::uint64_t kStep = FamilyDatabase::kFamilies;
    for (std::uint64_t first = 0; first < kStep; ++first) {
      const std::unique_ptr<rocksdb::Iterator> iterator(
          db->NewIterator({}, db.HandleOf(2 * first)));
      std::uint64_t key = first;
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), key += kStep) {
        while (key < Keys() && texts_[2 * key] != iterator->key()) key += kStep;
        if (key >= Keys()) return iterator->key().ToString() + " was never written";
        (*found)[key] = iterator->value().ToString();
      }
      if (!iterator->status().ok()) return "iterator: " + iterator->status().ToString();
    }
    for (std::uint64_t key = 0; key < Keys(); ++key) {
      if (!Allows(key, (*found)[key])) return Wrong(2 * key, (*found)[key].value_or("lost"));
    }
    return "";
  }

  std::string Look(const FamilyDatabase& db, const std::vector<Value>& found) const {
    const std::vector<rocksdb::Slice> keys(texts_.begin(), texts_.end());
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    for (std::uint64_t number = 0; number < 2 * Keys(); ++number) {
      families.push_back(db.HandleOf(number));
    }
    std::vector<std::string> values;
    const std::vector<rocksdb::Status> statuses = db->MultiGet({}, families, keys, &values);
    for (std::uint64_t number = 0; number < 2 * Keys(); ++number) {
      const bool is_written = number % 2 == 0;
      const Value expected = is_written ? found[number / 2] : std::nullopt;
      std::string value;
      for (const bool alone : {false, true}) {
        const rocksdb::Status status =
            alone ? db->Get({}, families[number], keys[number], &value) : statuses[number];
        if (!alone) value = values[number];
        if (expected ? status.ok() && value == *expected : status.IsNotFound()) continue;
        return Wrong(number, "the iterator finds " + expected.value_or("nothing") +
                                 (alone ? ", Get " : ", MultiGet ") + status.ToString() + " " +
                                 value);
      }
    }
    return "";
  }

  static std::string Wrong(std::uint64_t number, const std::string& what) {
    return KeyOf(number) + ": " + what;
  }

  std::vector<Key> keys_;
  std::vector<std::string> texts_;  // as the database sees them, with the absent ones between
};

}  // namespace exactbloom::faults
