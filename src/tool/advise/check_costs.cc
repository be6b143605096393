#include "check_costs.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::tool {
namespace {

struct KnownFilter {
  const char* name;
  const char* policy;  // that builds it
  CheckCost fixed;
};

// By CheckedFilter.
constexpr std::array<KnownFilter, 6> kKnownFilters = {{
    {"lines=0", "classic_bloom:10", {48, 104}},
    {"lines=1", "{id=classic_bloom;lines=1}", {32, 81}},
    {"lines=2", "{id=classic_bloom;lines=2}", {35, 85}},
    {"bloom", "bloomfilter:10:false", {39, 83}},
    {"ribbon", "ribbonfilter:10:-1", {57, 109}},
    {"none", "", {0, 0}},
}};

using PolicyPointer = std::shared_ptr<const rocksdb::FilterPolicy>;

PolicyPointer PolicyOf(CheckedFilter filter) {
  RegisterFilterPolicies();
  PolicyPointer policy;
  const char* const name = kKnownFilters[static_cast<std::size_t>(filter)].policy;
  rocksdb::FilterPolicy::CreateFromString({}, name, &policy).PermitUncheckedError();
  return policy;
}

using CheckedKey = std::array<std::uint64_t, 2>;

rocksdb::Slice BytesOf(const CheckedKey& key) {
  return {reinterpret_cast<const char*>(key.data()), sizeof(key)};
}

std::string BuildFilter(const rocksdb::FilterPolicy& policy) {
  constexpr std::uint64_t kKeys = 20'000;
  const rocksdb::BlockBasedTableOptions table_options;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(rocksdb::FilterBuildingContext(table_options)));
  for (std::uint64_t i = 0; i < kKeys; ++i) builder->AddKey(BytesOf({i, 0}));
  std::unique_ptr<const char[]> buffer;
  return builder->Finish(&buffer).ToString();
}

// No check begins before the one before has ended, since a lookup waits for each answer.
inline void WaitForAnswer() {
#if defined(__x86_64__)
  asm volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb ish\n\tisb" ::: "memory");
#endif
}

// Queries many filters, each with its own reader, as in a database.
double NanosecondsPerCheck(const rocksdb::FilterPolicy& policy,
                           const std::vector<std::string>& filters) {
  constexpr int kPasses = 5;
  constexpr int kChecks = 6000;
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers;
  readers.reserve(filters.size());
  for (const std::string& filter : filters)
    readers.emplace_back(policy.GetFilterBitsReader(filter));
  double least = std::numeric_limits<double>::infinity();
  std::uint64_t state = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    for (int check = 0; check < kChecks; ++check) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      WaitForAnswer();
      state += readers[(state >> 32) % readers.size()]->MayMatch(BytesOf({state, 1})) ? 2 : 0;
    }
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    least = std::min(least, time.count() / kChecks);
  }
  return least;
}

}  // namespace

const char* NameOf(CheckedFilter filter) {
  return kKnownFilters[static_cast<std::size_t>(filter)].name;
}

CheckedFilter CheckedFilterOf(Layout layout) {
  if (!layout.InLines()) return CheckedFilter::kAnywhere;
  return layout.Lines() == 1 ? CheckedFilter::kOneLine : CheckedFilter::kTwoLines;
}

CheckedFilter CheckedFilterOf(const TableFilter& filter) {
  switch (filter.family) {
    case FilterFamily::kExactBloom:
      return CheckedFilterOf(filter.layout);
    case FilterFamily::kBloom:
    case FilterFamily::kLegacyBloom:
      return CheckedFilter::kBloom;
    case FilterFamily::kRibbon:
      return CheckedFilter::kRibbon;
    default:
      return CheckedFilter::kNone;
  }
}

LookupCosts FixedCosts(double read_nanoseconds) {
  LookupCosts costs;
  costs.read_nanoseconds = read_nanoseconds;
  for (std::size_t i = 0; i < costs.checks.size(); ++i) costs.checks[i] = kKnownFilters[i].fixed;
  return costs;
}

LookupCosts MeasureCosts(double read_nanoseconds) {
  constexpr std::size_t kFiltersInCache = 16;    // 400 KB of Bloom filters
  constexpr std::size_t kFiltersInMemory = 512;  // 13 MB
  LookupCosts costs;
  costs.measured = true;
  costs.read_nanoseconds = read_nanoseconds;
  for (const CheckedFilter filter : kCheckedFilters) {
    const PolicyPointer policy = PolicyOf(filter);
    std::vector<std::string> filters(kFiltersInCache, BuildFilter(*policy));
    CheckCost& cost = costs.checks[static_cast<std::size_t>(filter)];
    cost.in_cache = NanosecondsPerCheck(*policy, filters);
    filters.resize(kFiltersInMemory, filters.front());
    cost.in_memory = NanosecondsPerCheck(*policy, filters);
  }
  return costs;
}

}  // namespace exactbloom::tool
