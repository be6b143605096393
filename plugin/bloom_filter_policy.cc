#include "bloom_filter_policy.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "bits_builder.h"
#include "bits_reader.h"
#include "cache_charge.h"
#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "exception_barrier.h"
#include "filter_bits_interface.h"
#include "live_tree/listener.h"

namespace exactbloom {

using rocksdb::Slice;
using rocksdb::Status;

namespace {

constexpr char kPolicyPointer[] = "exactbloom.policy";

constexpr char kWayBack[] =
    ", RocksDB's own Bloom filters; once 'exactbloom inspect' lists no filter of ExactBloom, set "
    "bloomfilter, and ExactBloom can be removed (docs/operations.md, Switching off)";

// Families that are remembered as logged, so that a program with ever new ones keeps few.
constexpr std::size_t kMostLogged = 1000;

// What the info log says of the memory of building: per key, since the number of keys is not known
// yet, and of the kind of filter that takes most.
std::string MemoryOfBuilding(const rocksdb::BlockBasedTableOptions& table_options) {
  const std::uint64_t bytes =
      FilterBuilder::kBytesPerKey + FilterBuilder::kFinishBytesPerKey +
      (table_options.detect_filter_construct_corruption ? FilterBuilder::kBytesPerKey : 0);
  return "building a filter takes up to " + std::to_string(bytes) + " bytes per key of a " +
         (table_options.partition_filters ? "partition" : "table") + " besides the filter, " +
         (CacheToCharge(table_options) == nullptr ? "not " : "") + "charged to the block cache; ";
}

// The options with the policy in their table factory, and the listener where it is needed.
Status AddPolicy(const PolicySetting& policy, rocksdb::ColumnFamilyOptions* family_options,
                 rocksdb::DBOptions* db_options) {
  PolicyOptions options;
  Status status = TakeSetting(policy, &options);
  if (!status.ok()) return status;
  rocksdb::BlockBasedTableOptions table_options;
  if (family_options->table_factory != nullptr) {
    const rocksdb::TableFactory& factory = *family_options->table_factory;
    const auto* present = factory.GetOptions<rocksdb::BlockBasedTableOptions>();
    // A factory around a block-based one has its options, too.
    const std::string_view name = factory.Name();
    if (present == nullptr || name != rocksdb::TableFactory::kBlockBasedTableName()) {
      return Status::InvalidArgument(
          "exactbloom: filters are for block-based tables, but the table factory is " +
          std::string(name));
    }
    table_options = *present;
  }
  table_options.filter_policy = std::make_shared<BloomFilterPolicy>(options);
  std::shared_ptr<rocksdb::TableFactory> factory(rocksdb::NewBlockBasedTableFactory(table_options));
  AddTreeListener(options, db_options);
  family_options->table_factory = std::move(factory);
  return Status::OK();
}

}  // namespace

bool HasTreeListener(const rocksdb::DBOptions& options) {
  return std::any_of(options.listeners.begin(), options.listeners.end(), [](const auto& listener) {
    return listener != nullptr && std::string_view(listener->Name()) == kTreeListenerName;
  });
}

// First, since RocksDB 7.8 reads several listeners of an OPTIONS file as one name.
void PutTreeListener(rocksdb::DBOptions* options, bool warns_of_other_policies) {
  options->listeners.insert(options->listeners.begin(),
                            tree::MakeTreeListener(warns_of_other_policies));
}

void AddTreeListener(const PolicyOptions& policy, rocksdb::DBOptions* options,
                     bool warns_of_other_policies) {
  if (!FollowsTree(policy) || HasTreeListener(*options)) return;
  PutTreeListener(options, warns_of_other_policies);
}

BloomFilterPolicy::BloomFilterPolicy(const PolicyOptions& options, const Status& configuration)
    : options_(options),
      configuration_(configuration.ok() ? ValidatePolicyOptions(options) : configuration) {
  // Where RocksDB does not ask whether a policy is valid, a table gets some filter.
  if (!configuration_.ok()) options_ = options.kind;
  Prepare();
}

void BloomFilterPolicy::Prepare() {
  // It is not written, so a policy that was read back would differ.
  if (HasRate(options_)) options_.bits_per_key = PolicyOptions().bits_per_key;
  built_in_.reset(rocksdb::NewBloomFilterPolicy(options_.bits_per_key));
  sizing_ = tree::SizingOptions();
  sizing_.division = {options_.bits_per_key, HasRibbon(options_)};
  if (!HasBudget(options_)) return;
  sizing_.setting.bound = BytesOfBudget(options_);
  sizing_.setting.covers_indexes = options_.covers == BudgetCovers::kFiltersAndIndexes;
  const auto lock = tree::Registry::Get().Lock();
  sizing_.budget = &tree::Registry::Get().NamedBudget(options_.budget);
  sizing_.setting.made_at = tree::Registry::Get().NextMoment();
}

const void* BloomFilterPolicy::GetOptionsPtr(const std::string& name) const {
  return ResultOr<const void*>(
      nullptr, [&] { return name == kPolicyPointer ? this : FilterPolicy::GetOptionsPtr(name); });
}

const BloomFilterPolicy* BloomFilterPolicy::Of(const rocksdb::FilterPolicy* policy) {
  return policy == nullptr ? nullptr : policy->GetOptions<BloomFilterPolicy>(kPolicyPointer);
}

std::optional<PolicyOptions> OptionsOf(const rocksdb::FilterPolicy* policy) {
  const BloomFilterPolicy* ours = BloomFilterPolicy::Of(policy);
  return ours == nullptr ? std::nullopt : std::optional(ours->Options());
}

std::string BloomFilterPolicy::GetId() const {
  return ResultOr(RefusedPolicyId(Name()), [&] { return FormatPolicyId(options_); });
}

const char* BloomFilterPolicy::CompatibilityName() const { return built_in_->CompatibilityName(); }

Status BloomFilterPolicy::ConfigureOptions(
    const rocksdb::ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& values,
    std::unordered_map<std::string, std::string>* /*unused*/) {
  // DB::SetOptions before RocksDB 9.8 asks this of a policy that other threads use.
  if (config_options.mutable_options_only && !values.empty()) {
    return StatusOf([] { return Status::InvalidArgument("Option not changeable: filter_policy"); });
  }
  Status status = StatusOf([&] {
    PolicyOptions changed = options_;
    Status read = ParsePolicyFields(values, &changed, config_options.ignore_unknown_options);
    if (read.ok()) {
      options_ = std::move(changed);
      Prepare();
      if (config_options.invoke_prepare_options) read = PrepareOptions(config_options);
    }
    if (configuration_.ok()) configuration_ = read;
    return read;
  });
  // An exception left it as it was.
  if (configuration_.ok()) configuration_ = status;
  return status;
}

std::string BloomFilterPolicy::SerializeOptions(const rocksdb::ConfigOptions& config_options,
                                                const std::string& header) const {
  return ResultOr(RefusedPolicyId(Name()), [&] {
    const std::string fields = FormatPolicyFields(options_, config_options.delimiter);
    return fields == FormatPolicyId(options_) ? fields : header + fields;
  });
}

bool BloomFilterPolicy::AreEquivalent(const rocksdb::ConfigOptions& config_options,
                                      const rocksdb::Configurable* other,
                                      std::string* mismatch) const {
  if (config_options.sanity_level == rocksdb::ConfigOptions::kSanityLevelNone) return true;
  return ResultOr(false, [&] {
    const auto* policy = other->GetOptions<BloomFilterPolicy>(kPolicyPointer);
    const std::string text = FormatPolicy(options_);
    if (policy != nullptr && FormatPolicy(policy->options_) == text) return true;
    *mismatch = text;
    return false;
  });
}

Status BloomFilterPolicy::PrepareOptions(const rocksdb::ConfigOptions& config_options) {
  return StatusOf([&] {
    return configuration_.ok() ? FilterPolicy::PrepareOptions(config_options) : configuration_;
  });
}

Status BloomFilterPolicy::ValidateOptions(const rocksdb::DBOptions& db_options,
                                          const rocksdb::ColumnFamilyOptions& cf_options) const {
  return StatusOf([&] {
    // A database is being opened. Its info log may have the address of one that is gone.
    {
      const std::lock_guard<std::mutex> lock(logged_mutex_);
      logged_.clear();
      warned_.clear();
    }
    if (!configuration_.ok()) return configuration_;
    if (FollowsTree(options_) && !HasTreeListener(db_options)) {
      return Status::InvalidArgument(
          "exactbloom: " + FormatPolicy(options_) +
          " needs a tree listener: set listeners=exactbloom_tree in the DBOptions, or insert "
          "exactbloom::NewTreeListener() in front of theirs");
    }
    return FilterPolicy::ValidateOptions(db_options, cf_options);
  });
}

rocksdb::FilterBitsBuilder* BloomFilterPolicy::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const {
  // A null builder means a table without a filter.
  return ResultOr<rocksdb::FilterBitsBuilder*>(nullptr, [&]() -> rocksdb::FilterBitsBuilder* {
    LogFilters(context);
    tree::ClaimTableInProgress(context);
    if (options_.kind == PolicyKind::kRocksDBBloom) {
      std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
          built_in_->GetBuilderWithContext(context));
      return WithoutEmptyBlocks(std::move(builder), context.table_options).release();
    }
    if (MakesNoFilters(options_)) return nullptr;
    FilterOptions options = ToFilterOptions(options_);
    options.detect_faults = context.table_options.detect_filter_construct_corruption;
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder) return nullptr;
    std::unique_ptr<tree::SizedTable> table;
    if (FollowsTree(options_)) {
      table = tree::SizedTable::Begin(sizing_, context);
      if (table == nullptr) WarnOfUnknownTree(context);
    }
    // RocksDB ends partitions, and tables with target_file_size_is_upper_bound, by these bits.
    if (table != nullptr) builder->SetBitsPerKey(table->ExpectedBitsPerKey());
    return NewBitsBuilder(std::move(*builder), context, memory_fit_, std::move(table)).release();
  });
}

rocksdb::FilterBitsReader* BloomFilterPolicy::GetFilterBitsReader(const Slice& contents) const {
  // RocksDB takes a null reader as one that lets all keys pass.
  return ResultOr<rocksdb::FilterBitsReader*>(nullptr, [&] {
    std::unique_ptr<rocksdb::FilterBitsReader> reader =
        NewBitsReader({contents.data(), contents.size()});
    return reader == nullptr ? built_in_->GetFilterBitsReader(contents) : reader.release();
  });
}

bool BloomFilterPolicy::IsFirst(LoggedFamilies& logged,
                                const rocksdb::FilterBuildingContext& context) const {
  const std::lock_guard<std::mutex> lock(logged_mutex_);
  if (logged.size() >= kMostLogged) logged.clear();
  return logged.emplace(context.info_log, context.column_family_name).second;
}

void BloomFilterPolicy::LogFilters(const rocksdb::FilterBuildingContext& context) const {
  if (context.info_log == nullptr || !IsFirst(logged_, context)) return;
  if (!configuration_.ok()) {
    rocksdb::Error(context.info_log, "exactbloom: column family [%s]: filters of %s, because of %s",
                   context.column_family_name.c_str(), FormatPolicy(options_).c_str(),
                   configuration_.ToString().c_str());
    return;
  }
  const std::string filters = options_.kind == PolicyKind::kRocksDBBloom
                                  ? kWayBack
                                  : ", kernel " + std::string(KernelName()) + "; " +
                                        MemoryOfBuilding(context.table_options) + kBeforeRemoval;
  rocksdb::Info(context.info_log, "exactbloom: column family [%s]: %s",
                context.column_family_name.c_str(), (FormatPolicy(options_) + filters).c_str());
}

void BloomFilterPolicy::WarnOfUnknownTree(const rocksdb::FilterBuildingContext& context) const {
  // While a database is opened its tree is not known yet, and tables for ingestion have none.
  const bool is_expected = context.reason != rocksdb::TableFileCreationReason::kFlush &&
                           context.reason != rocksdb::TableFileCreationReason::kCompaction;
  if (context.info_log == nullptr || is_expected || !IsFirst(warned_, context)) return;
  rocksdb::Warn(context.info_log,
                "exactbloom: column family [%s]: the tree is not known, so all tables get %g bits "
                "per key; does the database have the listener exactbloom_tree?",
                context.column_family_name.c_str(), options_.bits_per_key);
}

Status SetFilterPolicy(rocksdb::DBOptions* db_options, rocksdb::ColumnFamilyOptions* family_options,
                       const PolicySetting& policy) {
  return StatusOf([&] { return AddPolicy(policy, family_options, db_options); });
}

Status SetFilterPolicy(rocksdb::Options* options, const PolicySetting& policy) {
  return SetFilterPolicy(options, options, policy);
}

std::shared_ptr<const rocksdb::FilterPolicy> NewFilterPolicy(const PolicySetting& policy) {
  PolicyOptions options;
  const Status status = TakeSetting(policy, &options);
  return std::make_shared<BloomFilterPolicy>(options, status);
}

}  // namespace exactbloom
