#include "bits_builder.h"

#include <rocksdb/env.h>

#include <array>
#include <new>
#include <utility>

namespace exactbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// A block that every reader, ours and stock ones, takes as "always match".
constexpr std::array<char, 6> kAlwaysMatch{};

// Memory may run short while keys are collected or the filter is made. No exception may reach
// RocksDB, and a filter that lacks keys must not: such a table gets an always-match block.
class BitsBuilder : public rocksdb::FilterBitsBuilder {
 public:
  // `info_log` may be null, and outlives the builder.
  BitsBuilder(BloomFilterBuilder builder, rocksdb::Logger* info_log)
      : builder_(std::move(builder)), info_log_(info_log) {}

  void AddKey(const Slice& key) override {
    if (out_of_memory_) return;
    try {
      builder_.AddKey({key.data(), key.size()});
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
      builder_.Clear();
    }
  }

  size_t EstimateEntriesAdded() override { return static_cast<size_t>(builder_.KeyCount()); }

  Slice Finish(std::unique_ptr<const char[]>* buffer) override {
    if (std::exchange(out_of_memory_, false)) return {kAlwaysMatch.data(), kAlwaysMatch.size()};
    try {
      WarnOfTheBlockLimit();
      FilterBlock block = builder_.Finish();
      *buffer = std::move(block.data);
      return {buffer->get(), block.size};
    } catch (const std::bad_alloc&) {
      builder_.Clear();
      return {kAlwaysMatch.data(), kAlwaysMatch.size()};
    }
  }

  Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
    if (status != nullptr) *status = Status::OK();
    return Finish(buffer);
  }

  size_t ApproximateNumEntries(size_t bytes) override {
    return static_cast<size_t>(builder_.KeysThatFit(bytes));
  }

 private:
  void WarnOfTheBlockLimit() {
    if (!builder_.ExceedsBlockLimit()) return;
    rocksdb::Warn(info_log_,
                  "exactbloom: a filter of %llu keys would exceed the size of a block, which "
                  "%llu keys reach; it gets fewer bits per key",
                  static_cast<unsigned long long>(builder_.KeyCount()),
                  static_cast<unsigned long long>(builder_.KeysThatFit(kBlockBytesLimit)));
  }

  BloomFilterBuilder builder_;
  rocksdb::Logger* info_log_;
  bool out_of_memory_ = false;
};

}  // namespace

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBitsBuilder(BloomFilterBuilder builder,
                                                           rocksdb::Logger* info_log) {
  return std::make_unique<BitsBuilder>(std::move(builder), info_log);
}

}  // namespace exactbloom
