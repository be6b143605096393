#include "bloom_filter_policy.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "filter_bits_interface.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string_view View(const Slice& slice) { return {slice.data(), slice.size()}; }

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
      builder_.AddKey(View(key));
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
      builder_.Clear();
    }
  }

  size_t EstimateEntriesAdded() override { return static_cast<size_t>(builder_.KeyCount()); }

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

 private:
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

class BitsReader : public rocksdb::FilterBitsReader {
 public:
  explicit BitsReader(const BloomFilterView& view) : view_(view) {}

  bool MayMatch(const Slice& key) override { return view_.MayContain(View(key)); }

  void MayMatch(int count, Slice** keys, bool* may_match) override {
    // RocksDB asks for up to 32 keys; more come in groups of as many.
    std::array<std::string_view, 32> views;
    const auto most = static_cast<int>(views.size());
    for (; count > 0; count -= most, keys += most, may_match += most) {
      const int group = std::min(count, most);
      std::transform(keys, keys + group, views.begin(),
                     [](const Slice* key) { return View(*key); });
      view_.MayContain(views.data(), static_cast<std::size_t>(group), may_match);
    }
  }

 private:
  BloomFilterView view_;
};

}  // namespace

BloomFilterPolicy::BloomFilterPolicy(FilterKind kind, const PolicyOptions& options,
                                     const Status& configuration)
    : kind_(kind),
      options_(options),
      configuration_(configuration.ok() ? ValidatePolicyOptions(options) : configuration),
      built_in_(rocksdb::NewBloomFilterPolicy(PolicyOptions{}.bits_per_key)) {
  RegisterOptions(&options_, &PolicyOptionTypes());
}

const char* BloomFilterPolicy::NameOf(FilterKind kind) {
  return kind == FilterKind::kClassic ? "classic_bloom" : "standard_bloom";
}

std::string BloomFilterPolicy::GetId() const {
  return std::string(Name()) + ":" + FormatNumber(options_.bits_per_key);
}

const char* BloomFilterPolicy::CompatibilityName() const { return built_in_->CompatibilityName(); }

Status BloomFilterPolicy::ConfigureOptions(
    const rocksdb::ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  Status status = FilterPolicy::ConfigureOptions(config_options, options, unused);
  if (configuration_.ok()) configuration_ = status;
  return status;
}

std::string BloomFilterPolicy::SerializeOptions(const rocksdb::ConfigOptions& config_options,
                                                const std::string& header) const {
  if (options_.lines == PolicyOptions{}.lines) return GetId();
  return FilterPolicy::SerializeOptions(config_options, header);
}

Status BloomFilterPolicy::PrepareOptions(const rocksdb::ConfigOptions& config_options) {
  return configuration_.ok() ? FilterPolicy::PrepareOptions(config_options) : configuration_;
}

Status BloomFilterPolicy::ValidateOptions(const rocksdb::DBOptions& db_options,
                                          const rocksdb::ColumnFamilyOptions& cf_options) const {
  return configuration_.ok() ? FilterPolicy::ValidateOptions(db_options, cf_options)
                             : configuration_;
}

rocksdb::FilterBitsBuilder* BloomFilterPolicy::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const {
  BloomFilterBuilder::Options options;
  options.layout = Layout();
  options.bits_per_key = options_.bits_per_key;
  std::optional<BloomFilterBuilder> builder = BloomFilterBuilder::Create(options);
  // A null builder means a table without a filter.
  return builder ? new BitsBuilder(std::move(*builder), context.info_log) : nullptr;
}

rocksdb::FilterBitsReader* BloomFilterPolicy::GetFilterBitsReader(const Slice& contents) const {
  const BloomFilterView view(View(contents));
  if (view.Status() == BlockStatus::kForeign) return built_in_->GetFilterBitsReader(contents);
  return new BitsReader(view);
}

const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(double bits_per_key, int lines) {
  return new BloomFilterPolicy(FilterKind::kClassic, {bits_per_key, lines});
}

const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(double bits_per_key, int lines) {
  return new BloomFilterPolicy(FilterKind::kStandard, {bits_per_key, lines});
}

}  // namespace exactbloom
