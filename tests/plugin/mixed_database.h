// A database whose tables carry every kind of filter, in several levels.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "exactbloom/table_filters.h"
#include "sample_database.h"

namespace exactbloom {

// The tables of all open column families, by number.
std::map<std::uint64_t, TableFilter> TablesOf(rocksdb::DB& db);

// Their numbers, each with its level.
std::map<std::uint64_t, int> NumbersAndLevels(const std::map<std::uint64_t, TableFilter>& tables);

// In memory, and destroyed with this object. The tables are made one after the other, each of kKeys
// keys:
//
//   keys / kKeys   0 .. 1       none     moved below level 0
//                  1 .. 2       bloom    moved below level 0; universal compaction takes
//                                        the one before along, FIFO moves none
//                  0.5 .. 1.5   ribbon   in level 0, as those that follow
//                  1.5 .. 2.5   the policy asked for
//                  0 .. 1       none, with deletions of a tenth of these keys
//                  1 .. 2       the policy asked for
class MixedDatabase {
 public:
  static constexpr std::uint64_t kKeys = 1000;  // of one table

  explicit MixedDatabase(rocksdb::CompactionStyle style);

  // Makes the database, and opens it with `policy`.
  Database Build(const PolicyPointer& policy);

  Database Reopen(const PolicyPointer& policy);

  // Expects each key to have its last value, or to be deleted.
  static void ExpectIntact(rocksdb::DB& db);

  rocksdb::Env* env() const { return options_.env; }
  void SetEnv(rocksdb::Env* env) { options_.env = env; }

 private:
  void Put(const PolicyPointer& policy, const std::string& value, std::uint64_t first);
  void MoveDown(const PolicyPointer& policy, std::uint64_t first);
  void DeleteSome();

  std::unique_ptr<rocksdb::Env> memory_;
  rocksdb::Options options_;
};

}  // namespace exactbloom
