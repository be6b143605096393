// Each allocation fails in turn while a filter is built or read: the table gets the right filter or
// none, a reader that cannot be made passes all keys, and no exception leaves the policy. Also
// while a policy is configured.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "allocation_failure.h"
#include "bits_builder_fixture.h"
#include "exactbloom/c.h"
#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "src/filter/array_builder.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

using faults::AllocationFailure;
using faults::FailEachAllocation;
using faults::Starve;
using faults::ThrowAtEachAllocation;
using rocksdb::BlockBasedTableOptions;
using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;

constexpr std::uint64_t kKeys = 1000;

NewestFilterBitsBuilder& Newest(FilterBitsBuilder& builder) {
  return static_cast<NewestFilterBitsBuilder&>(builder);
}

Filter BuildFilter(FilterBitsBuilder& builder) {
  AddNumbers(builder, kKeys);
  Newest(builder).AddKeyAndAlt("key of a prefix", "prefix");
  // From 9.6 on, RocksDB takes zero for a partition without keys, and omits it.
  EXPECT_GT(builder.EstimateEntriesAdded(), 0U);
  return FinishAndVerify(builder);
}

void ExpectAllMatch(FilterBitsReader* reader) {
  if (reader == nullptr) return;  // RocksDB then passes all keys
  std::uint64_t denied = reader->MayMatch("prefix") && reader->MayMatch("key of a prefix") ? 0 : 1;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    denied += reader->MayMatch(Slice(NumberKey(i).text().data(), sizeof(i))) ? 0 : 1;
  }
  EXPECT_EQ(denied, 0U);
}

// What a builder says of filters.
struct Estimates {
  void Ask(NewestFilterBitsBuilder& builder) {
    keys = builder.ApproximateNumEntries(kBytes);
    bytes = builder.CalculateSpace(kKeys);
    rate = builder.EstimatedFpRate(kKeys, kBytes);
  }

  static constexpr std::size_t kBytes = 4096;
  std::size_t keys = 0;
  std::size_t bytes = 0;
  double rate = 0.0;
};

struct Variant {
  PolicyOptions policy;
  BlockBasedTableOptions table;
};

class OutOfMemory : public testing::TestWithParam<PolicyOptions> {
 protected:
  // Each allocates in a different way.
  static std::vector<Variant> Variants() {
    const Variant plain = {GetParam(), PlannedSizes()};
    std::vector<Variant> variants(5, plain);
    variants[1].policy.fpr = 0.01;
    variants[2].table.detect_filter_construct_corruption = true;
    variants[3].table.optimize_filters_for_memory = true;
    variants[4].table.block_cache = rocksdb::NewLRUCache(8 << 20);
    variants[4].table.cache_usage_options.options_overrides.insert(
        {rocksdb::CacheEntryRole::kFilterConstruction,
         {rocksdb::CacheEntryRoleOptions::Decision::kEnabled}});
    return variants;
  }
};

INSTANTIATE_TEST_SUITE_P(All, OutOfMemory,
                         testing::Values(PolicyKind::kStandardBloom, PolicyKind::kClassicBloom,
                                         PolicyKind::kExactRibbon),
                         [](const auto& test) { return std::string(PolicyName(test.param.kind)); });

// Of a filter of either kind; nothing for other blocks.
std::optional<std::uint64_t> KeysIn(const Slice& contents) {
  const FilterView bloom({contents.data(), contents.size()});
  const FilterView ribbon({contents.data(), contents.size()});
  if (bloom.Status() == BlockStatus::kUsable) return bloom.Description().keys;
  if (ribbon.Status() == BlockStatus::kUsable) return ribbon.Description().keys;
  return std::nullopt;
}

TEST_P(OutOfMemory, ABuilderMakesTheRightFilterOrNone) {
  const PolicyPointer stock(rocksdb::NewBloomFilterPolicy(10));
  for (const Variant& variant : Variants()) {
    SCOPED_TRACE(std::make_shared<BloomFilterPolicy>(variant.policy)->ToString({}));
    std::uint64_t without_builder = 0;
    std::uint64_t without_filter = 0;
    std::set<std::string> blocks;
    ThrowAtEachAllocation([&](AllocationFailure& failure) {
      const auto policy = std::make_shared<BloomFilterPolicy>(variant.policy);
      std::unique_ptr<FilterBitsBuilder> builder;
      Filter filter;
      failure.Run([&] {
        builder = NewBuilder(*policy, variant.table);
        if (builder != nullptr) filter = BuildFilter(*builder);
      });
      if (builder == nullptr) {
        ++without_builder;
        return;
      }
      if (const auto keys = KeysIn(filter.contents)) {
        EXPECT_EQ(*keys, kKeys + 2);
        blocks.insert(filter.contents.ToString());
      } else {
        ++without_filter;
        EXPECT_GT(filter.contents.size(), 5U);  // stock readers pass no key of shorter blocks
      }
      for (const PolicyPointer& reads : {PolicyPointer(policy), stock}) {
        ExpectAllMatch(
            std::unique_ptr<FilterBitsReader>(reads->GetFilterBitsReader(filter.contents)).get());
      }
      // The next partition is not affected.
      AddNumbers(*builder, kKeys);
      const Filter next = FinishAndVerify(*builder);
      EXPECT_EQ(KeysIn(next.contents), kKeys);
    });
    EXPECT_GT(without_builder, 0U);
    EXPECT_GT(without_filter, 0U);
    EXPECT_TRUE(blocks.size() == 1 ||
                (blocks.size() > 1 && variant.table.optimize_filters_for_memory));
  }
}

TEST_P(OutOfMemory, EstimatesAreOnTheSafeSide) {
  for (const Variant& variant : Variants()) {
    const auto policy = std::make_shared<BloomFilterPolicy>(variant.policy);
    const auto builder = NewBuilder(*policy, variant.table);
    Estimates right;
    right.Ask(Newest(*builder));
    ThrowAtEachAllocation([&](AllocationFailure& failure) {
      Estimates found;
      failure.Run([&] { found.Ask(Newest(*builder)); });
      EXPECT_GT(found.keys, 0U);
      EXPECT_LE(found.keys, right.keys);
      EXPECT_GT(found.bytes, 5U);
      EXPECT_LE(found.bytes, right.bytes);
      EXPECT_GE(found.rate, right.rate);
      EXPECT_LE(found.rate, 1.0);
    });
  }
}

TEST_P(OutOfMemory, LargeFiltersAreFilledWhole) {
  if (HasRibbon(GetParam())) GTEST_SKIP() << "an array of bits is that of a Bloom filter";
  constexpr std::uint64_t kLargeKeys = 150'000;
  filter::BloomDescription filter;
  filter.kind = BloomKindOf(GetParam());
  filter.bits = std::uint64_t{3} << 23;  // several ranges
  filter.keys = kLargeKeys;
  filter.probes = 6;
  const auto build = [&](auto build_array) {
    filter::HashStore hashes;
    for (std::uint64_t i = 0; i < kLargeKeys; ++i) hashes.Append(i * 0x9E3779B97F4A7C15U);
    std::vector<unsigned char> array(filter::ArrayBytes(filter.bits), 0xAA);
    build_array(array.data(), hashes);
    return array;
  };
  const auto expected = build([&](unsigned char* array, filter::HashStore& hashes) {
    filter::BuildArrayDirectly(array, filter, hashes);
  });
  const std::uint64_t failures = FailEachAllocation([&](AllocationFailure& failure) {
    const auto array = build([&](unsigned char* bytes, filter::HashStore& hashes) {
      failure.Run([&] { filter::BuildArrayByRange(bytes, filter, hashes); });
    });
    EXPECT_TRUE(array == expected);
  });
  EXPECT_GT(failures, 3U);
}

// Of several shards, in each allocation of Finish alone.
TEST_P(OutOfMemory, LargeFiltersHaveAllKeysOrLetAllPass) {
  constexpr std::uint64_t kLargeKeys = 40'000;
  const auto policy = std::make_shared<BloomFilterPolicy>(GetParam());
  std::uint64_t whole = 0;
  const auto attempt = [&](AllocationFailure& failure) {
    const auto builder = NewBuilder(*policy);
    AddNumbers(*builder, kLargeKeys);
    Filter filter;
    failure.Run([&] { filter.contents = builder->Finish(&filter.buffer, nullptr); });
    const auto keys = KeysIn(filter.contents);
    whole += keys ? 1 : 0;
    EXPECT_EQ(keys.value_or(kLargeKeys), kLargeKeys);
    const std::unique_ptr<FilterBitsReader> reader(policy->GetFilterBitsReader(filter.contents));
    std::uint64_t denied = 0;
    for (std::uint64_t i = 0; i < kLargeKeys + 1000; ++i) {
      if (reader->MayMatch(Slice(NumberKey(i).text().data(), sizeof(i)))) continue;
      ++denied;
      EXPECT_TRUE(keys && i >= kLargeKeys) << i;
    }
    EXPECT_EQ(keys.has_value(), denied > 900);
  };
  EXPECT_GT(FailEachAllocation(attempt), 0U);
  EXPECT_GT(whole, 0U);
}

TEST_P(OutOfMemory, AReaderThatCannotBeMadePassesAllKeys) {
  const PolicyPointer policy = std::make_shared<BloomFilterPolicy>(GetParam());
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  const PolicyPointer ribbon(rocksdb::NewRibbonFilterPolicy(10));
  for (const PolicyPointer& writer : {policy, bloom, ribbon}) {
    const auto builder = NewBuilder(*writer);
    AddNumbers(*builder, kKeys);
    builder->AddKey("prefix");
    builder->AddKey("key of a prefix");
    const Filter filter = FinishAndVerify(*builder);
    std::uint64_t missing = 0;
    ThrowAtEachAllocation([&](AllocationFailure& failure) {
      std::unique_ptr<FilterBitsReader> reader;
      failure.Run([&] { reader.reset(policy->GetFilterBitsReader(filter.contents)); });
      if (reader == nullptr) ++missing;
      ExpectAllMatch(reader.get());
    });
    EXPECT_GT(missing, 0U);
  }
}

// At least the code of the error is reported.
TEST_P(OutOfMemory, AFaultIsReportedWithoutMemory) {
  BlockBasedTableOptions table_options = PlannedSizes();
  table_options.detect_filter_construct_corruption = true;
  const PolicyPointer policy = std::make_shared<BloomFilterPolicy>(GetParam());
  const auto builder = NewBuilder(*policy, table_options);
  AddNumbers(*builder, kKeys);
  std::unique_ptr<const char[]> buffer;
  const Slice contents = builder->Finish(&buffer, nullptr);
  ++const_cast<char*>(buffer.get())[1];
  const Status status = Starve([&] { return builder->MaybePostVerify(contents); });
  EXPECT_TRUE(status.IsCorruption());
}

// RocksDB's parser may throw. Otherwise the result is the policy of the text, no
// policy, or one that databases refuse. The C interface returns either a policy or an error.
TEST(OutOfMemoryOfConfiguration, APolicyFromAStringIsRightOrRefused) {
  const std::vector<std::string> texts = {"classic_bloom:12", "{id=classic_bloom:12;hash_seed=7;}",
                                          "{id=standard_bloom:9.9;hash_seed=3;}",
                                          "{id=standard_bloom:10;fpr=0.001;}",
                                          "{id=exact_ribbon;fpr=0.001;hash_seed=7;}"};
  RegisterFilterPolicies();
  for (const std::string& text : texts) {
    PolicyPointer expected;
    ASSERT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, text, &expected).ok());
    std::uint64_t refused = 0;
    const auto attempt = [&](AllocationFailure& failure) {
      PolicyPointer policy;
      Status status;
      try {
        failure.Run([&] { status = rocksdb::FilterPolicy::CreateFromString({}, text, &policy); });
      } catch (...) {
        status = Status::MemoryLimit();
      }
      if (!status.ok()) ++refused;
      if (policy == nullptr || !policy->ValidateOptions({}, {}).ok()) return;
      EXPECT_EQ(policy->ToString({}), expected->ToString({}));
    };
    const auto attempt_in_c = [&](AllocationFailure& failure) {
      char* error = nullptr;
      rocksdb_filterpolicy_t* const policy =
          failure.Run([&] { return exactbloom_filterpolicy_create(text.c_str(), &error); });
      EXPECT_NE(policy == nullptr, error == nullptr);
      if (policy != nullptr) rocksdb_filterpolicy_destroy(policy);
      rocksdb_free(error);
    };
    EXPECT_GT(ThrowAtEachAllocation(attempt), 6U);
    EXPECT_GT(ThrowAtEachAllocation(attempt_in_c), 6U);
    EXPECT_GT(refused, 0U);
  }
}

}  // namespace
}  // namespace exactbloom
