#include "bits_builder.h"

#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "../src/filter/builder_state.h"
#include "cache_charge.h"
#include "exception_barrier.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string_view View(const Slice& slice) { return {slice.data(), slice.size()}; }

constexpr std::array<char, 6> kAlwaysMatch{};

// A classic filter of 8 bits, without keys (docs/format.md, section 2).
constexpr std::array<unsigned char, 12> kEmpty = {0x00, 0x01, 0x10, 0xb3, 0x48, 0xab,
                                                  0x2b, 0x00, 0x45, 0x78, 0x42, 0x01};

const char* Describe(ConstructionFault fault) {
  switch (fault) {
    case ConstructionFault::kNone:
      break;
    case ConstructionFault::kHashes:
      return "exactbloom: a key's hash changed while the filter was built";
    case ConstructionFault::kBlock:
      return "exactbloom: the filter block changed after it was built";
    case ConstructionFault::kMissingKey:
      return "exactbloom: the filter was built without a key that was added";
  }
  return "";
}

// Without the description if there is no memory for it.
Status CorruptionOf(ConstructionFault fault) {
  if (fault == ConstructionFault::kNone) return Status::OK();
  return ResultOr(Status::Corruption(), [&] { return Status::Corruption(Describe(fault)); });
}

// Memory may run short, or another exception be thrown, while keys are collected or the filter is
// made. Neither an exception nor a filter that lacks keys may reach RocksDB, so such a table gets
// an always-match block.
class BitsBuilder : public NewestFilterBitsBuilder {
 public:
  BitsBuilder(FilterBuilder builder, const rocksdb::FilterBuildingContext& context,
              MemoryFit& memory_fit, std::unique_ptr<tree::SizedTable> table)
      : builder_(std::move(builder)),
        info_log_(context.info_log),
        memory_fit_(context.table_options.optimize_filters_for_memory ? &memory_fit : nullptr),
        table_(std::move(table)),
        charge_(CacheToCharge(context.table_options)) {}

  // Inlines the common case. After memory ran short the store has no room, so that AddKeySlowly
  // gets every key, and ignores it.
  __attribute__((flatten)) void AddKey(const Slice& key) override {
    if (!filter::BuilderAccess::StateOf(builder_).AddShortKey(View(key))) AddKeySlowly(key);
  }

  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    Add([&] { builder_.AddKeyAndAlternate(View(key), View(alt)); });
  }

  // From 9.6 on, zero means that there is no key to filter.
  size_t EstimateEntriesAdded() override {
    return out_of_memory_ ? 1 : static_cast<size_t>(builder_.KeyCount());
  }

  Slice Finish(std::unique_ptr<const char[]>* buffer) override { return Finish(buffer, nullptr); }

  Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
    Status intact = CorruptionOf(builder_.CheckHashes());
    const bool is_usable = !std::exchange(out_of_memory_, false) && intact.ok();
    if (status != nullptr) *status = std::move(intact);
    const auto finish = [&] { return is_usable ? FinishFilter(buffer) : std::nullopt; };
    if (const auto filter = ResultOr<std::optional<Slice>>(std::nullopt, finish)) return *filter;
    Clear();
    return AlwaysMatchBlock();
  }

  Status MaybePostVerify(const Slice& filter) override {
    Status status = CorruptionOf(builder_.CheckBlock({filter.data(), filter.size()}));
    charge_.Set(finished_bytes_);
    return status;
  }

  // Too many would make partitions too large. Zero means that the size is too small for a
  // partition; RocksDB then takes the least size that is not. The built-in filter returns zero
  // below a cache line, where the trailer would be a large share of the block.
  size_t ApproximateNumEntries(size_t bytes) override {
    constexpr std::size_t kLeastBytes = 76;
    return bytes < kLeastBytes ? 0 : static_cast<size_t>(builder_.KeysThatFit(bytes));
  }

  // From 10.9 on, RocksDB calls this for every data block. With target_file_size_is_upper_bound one
  // with assertions aborts if the filter gets larger.
  size_t CalculateSpace(size_t num_entries) override {
    told_bits_per_key_ = builder_.options().bits_per_key;
    const bool is_sized_by_rate = num_entries != 0 && builder_.options().false_positive_rate > 0.0;
    return static_cast<size_t>(is_sized_by_rate ? SpaceBetweenPowers(num_entries)
                                                : builder_.BlockBytes(num_entries));
  }

  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    if (num_entries == 0) return 0.0;
    const auto plan = builder_.PlanWithin(num_entries, bytes);
    return plan ? plan->FalsePositiveRate() : 1.0;
  }

 private:
  // The fewest keys that are collected between two charges for them. There may be a chunk of the
  // hashes more, since they are counted where a key takes the long way.
  static constexpr std::uint64_t kKeysPerCharge =
      CacheCharge::kEntryBytes / FilterBuilder::kBytesPerKey / 4;

  __attribute__((noinline)) void AddKeySlowly(const Slice& key) {
    Add([&] { builder_.AddKey(View(key)); });
  }

  template <typename AddEntries>
  void Add(AddEntries add) {
    if (out_of_memory_) return;
    const bool is_added = ResultOr(false, [&] {
      add();
      if (builder_.KeyCount() >= charged_keys_ + kKeysPerCharge) ChargeKeys(0);
      return true;
    });
    if (is_added) return;
    out_of_memory_ = true;
    Clear();
  }

  // The size of a filter that is sized by its rate takes evaluations of exact rates, up to some
  // milliseconds. So it is found for powers of two of keys, and interpolated between them.
  std::uint64_t SpaceBetweenPowers(std::uint64_t keys) {
    std::uint64_t below = std::uint64_t{1} << 52;
    while (below > keys) below /= 2;
    if (below != power_.keys) {
      power_ = {below, builder_.BlockBytes(below), builder_.BlockBytes(2 * below)};
    }
    const double share = static_cast<double>(keys - below) / static_cast<double>(below);
    // Blocks that reach the limit may get smaller: there is no Ribbon filter of 2^32 keys.
    const auto more =
        static_cast<double>(power_.bytes_of_twice - std::min(power_.bytes, power_.bytes_of_twice));
    return power_.bytes + static_cast<std::uint64_t>(std::min(share, 1.0) * more);
  }

  // Nothing for a table or partition that gets no filter.
  std::optional<Slice> FinishFilter(std::unique_ptr<const char[]>* buffer) {
    const std::uint64_t keys = builder_.KeyCount();
    // A partition without keys is a block, too: RocksDB's MultiGet reads past an empty one.
    if (keys == 0) return FinishBlock(builder_.Plan(0), buffer);
    if (table_ != nullptr) {
      const double bits_per_key = table_->BitsPerKey(keys, told_bits_per_key_);
      if (bits_per_key < kMinBitsPerKey) return std::nullopt;
      builder_.SetBitsPerKey(bits_per_key);
    }
    const FilterPlan meant = builder_.Plan(keys);
    if (meant.IsCut()) WarnOfTheBlockLimit();
    const FilterPlan plan = memory_fit_ == nullptr ? meant : memory_fit_->Fit(builder_, meant);
    if (IsWithinBudget(plan)) return FinishBlock(plan, buffer);
    if (IsWithinBudget(meant)) return FinishBlock(meant, buffer);
    const auto unrounded = builder_.PlanWithin(keys, UnroundedBytes(keys));
    if (unrounded && IsWithinBudget(*unrounded)) return FinishBlock(*unrounded, buffer);
    return std::nullopt;
  }

  // Of a block whose array is not rounded up to whole lines.
  std::uint64_t UnroundedBytes(std::uint64_t keys) const {
    constexpr std::uint64_t kTrailerBytes = 14;  // of a Bloom filter of up to 16 million keys
    const double bits = builder_.options().bits_per_key * static_cast<double>(keys);
    return kTrailerBytes + static_cast<std::uint64_t>(bits / 8.0);
  }

  bool IsWithinBudget(const FilterPlan& plan) {
    return table_ == nullptr || table_->Take(plan.BlockBytes(), plan.Kind() == FilterKind::kRibbon);
  }

  Slice FinishBlock(const FilterPlan& plan, std::unique_ptr<const char[]>* buffer) {
    const std::uint64_t keys = builder_.KeyCount();
    ChargeKeys(plan.BlockBytes() + builder_.FinishBytes(plan));
    FilterBlock block = builder_.Finish(plan);
    charged_keys_ = 0;
    finished_bytes_ += block.size;
    const std::uint64_t kept = builder_.options().detect_faults ? keys : 0;
    charge_.Set(finished_bytes_ + kept * FilterBuilder::kBytesPerKey);
    *buffer = std::move(block.data);
    return Slice(buffer->get(), block.size);
  }

  void Clear() {
    builder_.Clear();
    charged_keys_ = 0;
    charge_.Set(finished_bytes_);
  }

  // For the keys that are kept, and for what is made of them.
  void ChargeKeys(std::uint64_t other_bytes) {
    charge_.Set(finished_bytes_ + other_bytes + builder_.KeyCount() * FilterBuilder::kBytesPerKey);
    charged_keys_ = builder_.KeyCount();
  }

  void WarnOfTheBlockLimit() {
    rocksdb::Warn(info_log_,
                  "exactbloom: a filter of %llu keys would exceed the size of a block, which "
                  "%llu keys reach; it gets fewer bits per key",
                  static_cast<unsigned long long>(builder_.KeyCount()),
                  static_cast<unsigned long long>(builder_.KeysThatFit(kBlockBytesLimit)));
  }

  FilterBuilder builder_;
  rocksdb::Logger* info_log_;
  MemoryFit* memory_fit_;                    // null: blocks have the size that the builder plans
  std::unique_ptr<tree::SizedTable> table_;  // null: not sized by a tree
  bool out_of_memory_ = false;
  CacheCharge charge_;
  std::uint64_t charged_keys_ = 0;
  double told_bits_per_key_ = tree::SizedTable::kUntold;  // by CalculateSpace
  // RocksDB writes the filters of all partitions at the end, and then destroys the builder.
  std::size_t finished_bytes_ = 0;
  // The sizes that were found last: of the blocks of a power of two of keys, and of the next.
  struct {
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_of_twice = 0;
  } power_;
};

// Forwards to RocksDB's builder, but for empty blocks.
class BuiltInBuilder : public rocksdb::FilterBitsBuilder {
 public:
  explicit BuiltInBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> builder)
      : builder_(std::move(builder)) {}

  void AddKey(const Slice& key) override { builder_->AddKey(key); }
#if EXACTBLOOM_ROCKSDB_SINCE(9, 6)
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    builder_->AddKeyAndAlt(key, alt);
  }
#endif
  size_t EstimateEntriesAdded() override { return builder_->EstimateEntriesAdded(); }
  Slice Finish(std::unique_ptr<const char[]>* buffer) override { return Finish(buffer, nullptr); }
  Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
    const Slice filter = builder_->Finish(buffer, status);
    return filter.empty() ? EmptyBlock() : filter;
  }
  Status MaybePostVerify(const Slice& filter) override { return builder_->MaybePostVerify(filter); }
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

}  // namespace

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBitsBuilder(
    FilterBuilder builder, const rocksdb::FilterBuildingContext& context, MemoryFit& memory_fit,
    std::unique_ptr<tree::SizedTable> table) {
  return std::make_unique<BitsBuilder>(std::move(builder), context, memory_fit, std::move(table));
}

std::unique_ptr<rocksdb::FilterBitsBuilder> WithoutEmptyBlocks(
    std::unique_ptr<rocksdb::FilterBitsBuilder> builder,
    const rocksdb::BlockBasedTableOptions& table_options) {
  if (builder == nullptr || !table_options.partition_filters) return builder;
  return std::make_unique<BuiltInBuilder>(std::move(builder));
}

Slice AlwaysMatchBlock() { return {kAlwaysMatch.data(), kAlwaysMatch.size()}; }

Slice EmptyBlock() { return {reinterpret_cast<const char*>(kEmpty.data()), kEmpty.size()}; }

}  // namespace exactbloom
