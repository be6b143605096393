// RocksDB's own filter builders, as tables with partitions need them.
#pragma once

#include <rocksdb/table.h>

#include <memory>
#include <utility>

#include "bits_builder.h"
#include "exactbloom/rocksdb_namespace.h"
#include "filter_bits_interface.h"

namespace exactbloom {

// Forwards to RocksDB's builder of Bloom filters. From 9.8 on that returns no bytes for a partition
// without keys, which RocksDB's MultiGet takes for a block that is out of range; this one returns
// EmptyBlock().
class BuiltInBuilder : public rocksdb::FilterBitsBuilder {
 public:
  explicit BuiltInBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> builder)
      : builder_(std::move(builder)) {}

  void AddKey(const rocksdb::Slice& key) override { builder_->AddKey(key); }
#if EXACTBLOOM_ROCKSDB_SINCE(9, 6)
  void AddKeyAndAlt(const rocksdb::Slice& key, const rocksdb::Slice& alt) override {
    builder_->AddKeyAndAlt(key, alt);
  }
#endif
  size_t EstimateEntriesAdded() override { return builder_->EstimateEntriesAdded(); }
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer) override {
    return Finish(buffer, nullptr);
  }
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
    const rocksdb::Slice filter = builder_->Finish(buffer, status);
    return filter.empty() ? EmptyBlock() : filter;
  }
  rocksdb::Status MaybePostVerify(const rocksdb::Slice& filter) override {
    return builder_->MaybePostVerify(filter);
  }
  size_t ApproximateNumEntries(size_t bytes) override {
    return builder_->ApproximateNumEntries(bytes);
  }
#if EXACTBLOOM_ROCKSDB_SINCE(10, 9)
  size_t CalculateSpace(size_t num_entries) override {
    return builder_->CalculateSpace(num_entries);
  }
  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return builder_->EstimatedFpRate(num_entries, bytes);
  }
#endif

 private:
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
};

// The builder, null or built-in, as tables with these options need it.
inline std::unique_ptr<rocksdb::FilterBitsBuilder> WithoutEmptyBlocks(
    std::unique_ptr<rocksdb::FilterBitsBuilder> builder,
    const rocksdb::BlockBasedTableOptions& table_options) {
  if (builder == nullptr || !table_options.partition_filters) return builder;
  return std::make_unique<BuiltInBuilder>(std::move(builder));
}

}  // namespace exactbloom
