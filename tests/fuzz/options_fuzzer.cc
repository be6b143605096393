// Any text or numbers as a policy's configuration: either it is refused with a message, or the
// policy is the same after it is written and read again. Its filters pass their keys; those of a
// refused one are of the default size.
//
// An input is a byte for the form of the configuration, and the configuration.
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "input.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::fuzz {
namespace {

using rocksdb::ConfigOptions;
using rocksdb::FilterPolicy;
using rocksdb::Status;
using PolicyPointer = std::shared_ptr<const FilterPolicy>;

enum Way : std::uint8_t { kText, kTableOptions, kTextAndChange, kStruct, kWays = 5 };

const ConfigOptions& Config() {
  static const ConfigOptions config = [] {
    RegisterFilterPolicies();
    return ConfigOptions();
  }();
  return config;
}

// A text that names no policy is RocksDB's own matter.
const BloomFilterPolicy* Ours(const PolicyPointer& policy) {
  return dynamic_cast<const BloomFilterPolicy*>(policy.get());
}

Status Validate(const FilterPolicy& policy) {
  static const rocksdb::DBOptions options = [] {
    rocksdb::DBOptions with_listener;
    with_listener.listeners.push_back(NewTreeListener());
    return with_listener;
  }();
  return policy.ValidateOptions(options, rocksdb::ColumnFamilyOptions());
}

// The builder for a table of some level; null for no filter.
std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(const FilterPolicy& policy) {
  static const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.num_levels = 7;
  context.level_at_creation = 1;
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(policy.GetBuilderWithContext(context));
}

void CheckFilters(const BloomFilterPolicy& policy) {
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder = NewBuilder(policy);
  Require(builder != nullptr || Validate(policy).ok(), "a refused policy makes no filters");
  if (builder == nullptr) return;
  const std::vector<std::string> keys = {"apple", "", "cherry"};
  for (const std::string& key : keys) builder->AddKey(key);
  std::unique_ptr<const char[]> buffer;
  const rocksdb::Slice block = builder->Finish(&buffer);
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy.GetFilterBitsReader(block));
  for (const std::string& key : keys) Require(reader->MayMatch(key), "a key is missed");
}

// The policies themselves compare texts.
bool AreSame(const PolicyOptions& a, const PolicyOptions& b) {
  return a.kind == b.kind && a.bits_per_key == b.bits_per_key && a.fpr == b.fpr &&
         a.ribbon == b.ribbon && a.memory_budget == b.memory_budget && a.covers == b.covers &&
         a.hash_seed == b.hash_seed;
}

void CheckRoundTrip(const BloomFilterPolicy& policy) {
  const std::string text = policy.ToString(Config());
  PolicyPointer again;
  const Status status = FilterPolicy::CreateFromString(Config(), text, &again);
  Require(status.ok() && Ours(again) != nullptr, "a policy's own text is not read: " + text);
  Require(Validate(*again).ok(), "a policy's own text is refused: " + text);
  std::string difference;
  Require(again->AreEquivalent(Config(), &policy, &difference),
          "another policy is read: " + text + " differs in " + difference);
  Require(AreSame(Ours(again)->Options(), policy.Options()), "other numbers are read: " + text);
}

void CheckPolicy(const BloomFilterPolicy& policy) {
  const Status status = Validate(policy);
  if (status.ok()) {
    CheckRoundTrip(policy);
  } else {
    Require(status.getState() != nullptr, "an error without a message");
  }
  CheckFilters(policy);
}

// Options as a C++ program sets them, inside and outside their ranges.
PolicyOptions TakeStruct(Input& input) {
  enum Flag : unsigned { kRate = 1, kRibbon = 8, kSeed = 16, kAnyBits = 32 };
  const unsigned flags = input.Take<std::uint8_t>();
  constexpr std::size_t kKinds = kPolicyKinds.size();
  PolicyOptions options(kPolicyKinds[input.Take<std::uint8_t>() % kKinds]);
  const bool is_divided = options.kind == PolicyKind::kExactBloom;
  const bool has_own_filters = HasOwnFilters(options);
  options.bits_per_key =
      (flags & kAnyBits) != 0 ? input.Take<double>() : input.Take<std::uint16_t>() / 600.0;
  if ((flags & kRate) != 0 && has_own_filters && !is_divided) options.fpr = input.Take<double>();
  if (is_divided) options.ribbon = (flags & kRibbon) != 0;
  if ((flags & kSeed) != 0 && has_own_filters) options.hash_seed = input.Take<std::uint64_t>();
  return options;
}

void CheckStruct(Input& input) {
  const PolicyPointer policy = std::make_shared<BloomFilterPolicy>(TakeStruct(input));
  CheckPolicy(*Ours(policy));
}

// A policy, and a change of its options as by SetOptions.
void CheckChange(Input& input) {
  const std::size_t size = input.Take<std::uint8_t>();
  const std::string id(input.TakeBytes(size));
  const std::string change(input.TakeRest());
  PolicyPointer policy;
  if (!FilterPolicy::CreateFromString(Config(), id, &policy).ok() || Ours(policy) == nullptr)
    return;
  const auto changed = std::const_pointer_cast<FilterPolicy>(policy);
  const bool was_valid = Validate(*policy).ok();
  const std::string before = policy->ToString(Config());
  const Status status = changed->ConfigureFromString(Config(), change);
  // RocksDB refuses a text that is not a list of options before the policy sees it.
  Require(status.ok() || !Validate(*changed).ok() || changed->ToString(Config()) == before,
          "an error is forgotten");
  Require(was_valid || !Validate(*changed).ok(), "the first error is forgotten");
  CheckPolicy(*Ours(changed));
}

void CheckText(Way way, const std::string& text) {
  PolicyPointer policy;
  if (way != kTableOptions) {
    if (!FilterPolicy::CreateFromString(Config(), text, &policy).ok()) return;
  } else {
    rocksdb::BlockBasedTableOptions table_options;
    if (!rocksdb::GetBlockBasedTableOptionsFromString(Config(), {}, "filter_policy=" + text,
                                                      &table_options)
             .ok()) {
      return;
    }
    policy = table_options.filter_policy;
  }
  if (Ours(policy) != nullptr) CheckPolicy(*Ours(policy));
}

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom::fuzz;
  Input input(data, size);
  const auto way = static_cast<Way>(input.Take<std::uint8_t>() % kWays);
  if (way == kStruct) {
    CheckStruct(input);
  } else if (way == kTextAndChange) {
    CheckChange(input);
  } else {
    CheckText(way, std::string(input.TakeRest()));
  }
  return 0;
}
