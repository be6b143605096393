// The filter that a column family's current policy would give a table.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <string>

#include "../block_description.h"
#include "exactbloom/rocksdb_namespace.h"
#include "exactbloom/table_filters.h"

namespace exactbloom {

class WantedFilter {
 public:
  // Takes the policy and everything that it decides by from the options in effect. `db` must
  // outlive the result. Errors: NotSupported unless the column family has block-based tables.
  static rocksdb::Status Create(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                WantedFilter* wanted);

  // Whether a compaction of the table within its level would give it a filter of another family,
  // kind or lines.
  //   filter      readable
  //   bottommost  whether its keys have no older data
  bool IsLackedBy(const TableFilter& filter, bool bottommost) const;

  // Whether such a compaction, in a rebuild of all tables, would give it a filter of other memory
  // per key (RebuildScope::kOtherSize). IsLackedBy() is false for `filter`.
  bool HasOtherSize(const TableFilter& filter, bool bottommost) const;

 private:
  struct SampleFilter {
    FilterBlockDescription block;
    double bytes_per_key = 0;
  };

  // Has the policy build a filter of `keys` keys for a table of `table_keys`. kNone if it builds
  // none.
  SampleFilter Sample(int level, bool bottommost, std::uint64_t table_keys,
                      std::uint64_t keys) const;

  rocksdb::DB* db_ = nullptr;
  rocksdb::Options options_;
  std::string family_name_;
  const rocksdb::BlockBasedTableOptions* table_options_ = nullptr;  // in options_
};

}  // namespace exactbloom
