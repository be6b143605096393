// RocksDB's own Ribbon filters, sized by bytes.
#pragma once

#include <rocksdb/filter_policy.h>

#include <map>
#include <memory>
#include <mutex>

#include "exactbloom/rocksdb_namespace.h"
#include "filter_bits_interface.h"
#include "live_tree/sized_table.h"

namespace exactbloom {

// RocksDB sizes a Ribbon filter by the bits per key of a Bloom filter of the same rate. This class
// finds the number for which the filter has the wanted bits per key, by asking RocksDB's builder
// how many keys fit. May be used by several threads at once.
class RibbonFilters {
 public:
  // Returns a builder of Ribbon filters of `bits_per_key` bits per key, above zero. RocksDB offers
  // 0.7 to about 30 bits per key; other values get the nearest of these. The number of keys of a
  // table is not known yet, so the match is exact for whole filters of about a million keys and for
  // partitions of `metadata_block_size`; a filter of a hundred times more or fewer keys is within
  // 3%, since Ribbon takes more bits per key the more keys it has.
  //   table   unless null: lets the filters take of a budget
  // Throws std::bad_alloc.
  std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(
      double bits_per_key, const rocksdb::FilterBuildingContext& context,
      std::unique_ptr<tree::SizedTable> table = nullptr) const;

 private:
  class CountedBuilder;

  // The bits of partitions that were fitted to the allocator, and those that they should have had.
  struct Fitted {
    std::mutex mutex;
    double taken = 0.0;
    double wanted = 0.0;
  };

  const rocksdb::FilterPolicy& PolicyOf(double bits_per_key) const;
  double LessWhatFittingAdds(double bits_per_key) const;

  const std::shared_ptr<Fitted> fitted_ = std::make_shared<Fitted>();  // the builders keep it
  mutable std::mutex mutex_;
  mutable std::map<double, std::unique_ptr<const rocksdb::FilterPolicy>> policies_;
};

}  // namespace exactbloom
