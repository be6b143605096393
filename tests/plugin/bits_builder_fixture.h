// Makes builders as RocksDB does, with the switches of a table's options.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>

#include "plugin/filter_bits_interface.h"
#include "sample_database.h"

namespace exactbloom {

inline std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(
    const rocksdb::FilterPolicy& policy,
    const rocksdb::BlockBasedTableOptions& table_options = PlannedSizes()) {
  // As SstFileWriter fills it in: no level, no reason, no log.
  const rocksdb::FilterBuildingContext context(table_options);
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(policy.GetBuilderWithContext(context));
}

inline void AddNumbers(rocksdb::FilterBitsBuilder& builder, std::uint64_t count,
                       std::uint64_t first = 0) {
  for (std::uint64_t i = first; i < first + count; ++i) {
    builder.AddKey(rocksdb::Slice(reinterpret_cast<const char*>(&i), sizeof(i)));
  }
}

struct Filter {
  std::unique_ptr<const char[]> buffer;
  rocksdb::Slice contents;
};

// Expects success.
inline Filter FinishAndVerify(rocksdb::FilterBitsBuilder& builder) {
  Filter filter;
  rocksdb::Status status;
  filter.contents = builder.Finish(&filter.buffer, &status);
  EXPECT_TRUE(status.ok()) << status.ToString();
  const rocksdb::Status verified = builder.MaybePostVerify(filter.contents);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  return filter;
}

}  // namespace exactbloom
