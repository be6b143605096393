#include "bloom_filter_policy.h"

#include <rocksdb/table.h>

#include <optional>
#include <utility>

#include "bits_builder.h"
#include "bits_reader.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "filter_bits_interface.h"

namespace exactbloom {

using rocksdb::Slice;
using rocksdb::Status;

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
  options.detect_faults = context.table_options.detect_filter_construct_corruption;
  std::optional<BloomFilterBuilder> builder = BloomFilterBuilder::Create(options);
  // A null builder means a table without a filter.
  return builder ? NewBitsBuilder(std::move(*builder), context, memory_fit_).release() : nullptr;
}

rocksdb::FilterBitsReader* BloomFilterPolicy::GetFilterBitsReader(const Slice& contents) const {
  const BloomFilterView view({contents.data(), contents.size()});
  if (view.Status() == BlockStatus::kForeign) return built_in_->GetFilterBitsReader(contents);
  return NewBitsReader(view).release();
}

const rocksdb::FilterPolicy* NewClassicBloomFilterPolicy(double bits_per_key, int lines) {
  return new BloomFilterPolicy(FilterKind::kClassic, {bits_per_key, lines});
}

const rocksdb::FilterPolicy* NewStandardBloomFilterPolicy(double bits_per_key, int lines) {
  return new BloomFilterPolicy(FilterKind::kStandard, {bits_per_key, lines});
}

}  // namespace exactbloom
