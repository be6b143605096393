#include "bits_builder.h"

#include <rocksdb/env.h>

#include <array>
#include <new>
#include <string_view>
#include <utility>

namespace exactbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string_view View(const Slice& slice) { return {slice.data(), slice.size()}; }

// A block that every reader, ours and stock ones, takes as "always match".
constexpr std::array<char, 6> kAlwaysMatch{};

// Memory may run short while keys are collected or the filter is made. No exception may reach
// RocksDB, and a filter that lacks keys must not: such a table gets an always-match block.
class BitsBuilder : public NewestFilterBitsBuilder {
 public:
  // `info_log` may be null, and outlives the builder.
  BitsBuilder(BloomFilterBuilder builder, rocksdb::Logger* info_log)
      : builder_(std::move(builder)), info_log_(info_log) {}

  void AddKey(const Slice& key) override {
    Add([&] { builder_.AddKey(View(key)); });
  }

  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    Add([&] { builder_.AddKeyAndAlternate(View(key), View(alt)); });
  }

  // From 9.6 on zero says that there is no key to filter.
  size_t EstimateEntriesAdded() override {
    return out_of_memory_ ? 1 : static_cast<size_t>(builder_.KeyCount());
  }

  Slice Finish(std::unique_ptr<const char[]>* buffer) override {
    if (std::exchange(out_of_memory_, false)) return {kAlwaysMatch.data(), kAlwaysMatch.size()};
    WarnOfTheBlockLimit();
    try {
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

  size_t CalculateSpace(size_t num_entries) override {
    return static_cast<size_t>(builder_.BlockBytes(num_entries));
  }

  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return builder_.FalsePositiveRateOfBlock(num_entries, bytes);
  }

 private:
  template <typename AddEntries>
  void Add(AddEntries add) {
    if (out_of_memory_) return;
    try {
      add();
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
      builder_.Clear();
    }
  }

  void WarnOfTheBlockLimit() {
    const std::uint64_t keys = builder_.KeyCount();
    const std::uint64_t fitting = builder_.KeysThatFit(kBlockBytesLimit - 1);
    if (keys <= fitting) return;
    rocksdb::Warn(info_log_,
                  "exactbloom: a filter of %llu keys would exceed the limit of a block, which is "
                  "reached at %llu keys; it gets fewer bits per key",
                  static_cast<unsigned long long>(keys), static_cast<unsigned long long>(fitting));
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
