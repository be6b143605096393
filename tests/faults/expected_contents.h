// The answers that a database must give: a copy of it in memory.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace exactbloom::faults {

using Value = std::optional<std::string>;  // nothing: deleted, or never written

// Keys are numbers; KeyOf(2 * number) (sample_database.h) is what the database sees.
using Writes = std::vector<std::pair<std::uint64_t, Value>>;

class ExpectedContents {
 public:
  // A multiple of 32 keys.
  explicit ExpectedContents(std::uint64_t keys);

  std::uint64_t Keys() const { return keys_.size(); }

  // A write that the database acknowledged, or one that failed: it may appear later, wholly or in
  // part.
  void Acknowledge(const Writes& writes);
  void Attempt(const Writes& writes);

  // Whether this is a possible answer: an allowed value, or an error.
  bool Allows(std::uint64_t key, const rocksdb::Status& status, const std::string& value) const;

  // Reads everything, without faults: with an iterator, Get and MultiGet. Returns what is wrong, or
  // an empty text. Keys that were never written are asked for, too.
  std::string FindDifference(rocksdb::DB& db) const;

  // The same after a reopening, which decides the fate of the failed writes.
  std::string Settle(rocksdb::DB& db);

 private:
  struct Key {
    Value acknowledged;
    std::vector<Value> attempted;  // since then
  };

  bool Allows(std::uint64_t key, const Value& value) const;
  std::string Read(rocksdb::DB& db, std::vector<Value>* found) const;
  std::string Scan(rocksdb::DB& db, std::vector<Value>* found) const;
  std::string Look(rocksdb::DB& db, const std::vector<Value>& found) const;

  std::vector<Key> keys_;
  std::vector<std::string> texts_;  // as the database sees them, with the absent ones between
};

}  // namespace exactbloom::faults
