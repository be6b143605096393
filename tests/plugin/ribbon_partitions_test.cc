// Partitions with Ribbon filters take the bits per key that are asked for, on average, where
// RocksDB fits them to the allocator. This program's allocator has the size classes of jemalloc.
#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "plugin/filter_bits_interface.h"
#include "plugin/ribbon_filters.h"
#include "size_classes.h"
#include "tests/filter/replaced_allocation.h"

namespace exactbloom {

void* AllocateOrNull(std::size_t size) { return std::malloc(FourClassesPerDoubling(size)); }
void Free(void* memory) noexcept { std::free(memory); }

namespace {

struct Shape {
  double bits_per_key;
  std::uint64_t metadata_block_size;
};

class RibbonPartitions : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, RibbonPartitions,
                         testing::Values(Shape{10.0, 4096}, Shape{10.0, 2048}, Shape{7.5, 4096},
                                         Shape{14.0, 4096}));

TEST_P(RibbonPartitions, TakeTheBitsThatAreAskedFor) {
  constexpr int kTables = 60;
  constexpr int kPartitions = 20;       // of a table
  constexpr double kPartOfBlock = 0.9;  // what RocksDB fills of metadata_block_size
  rocksdb::BlockBasedTableOptions table;
  table.partition_filters = true;
  table.optimize_filters_for_memory = true;
  table.metadata_block_size = GetParam().metadata_block_size;
  const rocksdb::FilterBuildingContext context(table);
  const auto bytes =
      static_cast<std::size_t>(kPartOfBlock * static_cast<double>(GetParam().metadata_block_size));
  const RibbonFilters filters;
  double bits = 0.0;
  std::uint64_t keys = 0;
  for (int i = 0; i < kTables; ++i) {
    const auto builder = filters.NewBuilder(GetParam().bits_per_key, context);
    const std::size_t partition = builder->ApproximateNumEntries(bytes);
    for (int j = 0; j < kPartitions; ++j) {
      for (std::size_t k = 0; k < partition; ++k) builder->AddKey(std::to_string(keys++));
      std::unique_ptr<const char[]> buffer;
      bits += 8.0 * static_cast<double>(builder->Finish(&buffer).size());
    }
  }
  EXPECT_NEAR(bits / static_cast<double>(keys), GetParam().bits_per_key,
              0.01 * GetParam().bits_per_key);
}

}  // namespace
}  // namespace exactbloom
