// Each allocation fails in turn while a filter is built or read: the table gets the right filter or
// none, a reader that cannot be made passes all keys, and no exception leaves the policy. Also in a
// database, and while a policy is configured.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "allocation_failure.h"
#include "bits_builder_fixture.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/c.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "forwarding_builder.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/c_binding/forwarding_policy.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "src/filter/array_builder.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

using faults::AllocationFailure;
using faults::FailEachAllocation;
using faults::Shortage;
using faults::Starve;
using rocksdb::BlockBasedTableOptions;
using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;

constexpr std::uint64_t kKeys = 1000;

// Options of a policy and a table; each entry allocates in a different way.
struct Variant {
  const char* name;
  void (*set)(PolicyOptions* policy, BlockBasedTableOptions* table);
  bool same_size;  // the filter has the same bytes, or there is none
};

const std::vector<Variant>& Variants() {
  using Policy = PolicyOptions;
  using Table = BlockBasedTableOptions;
  static const std::vector<Variant> variants = {
      {"BitsPerKey", [](Policy*, Table*) {}, true},
      {"Rate", [](Policy* policy, Table*) { policy->fpr = 0.01; }, true},
      {"SizeRatio",
       [](Policy* policy, Table*) {
         policy->kind = PolicyKind::kExactBloom;
         policy->ribbon = false;
         policy->lines = 0;
         policy->size_ratio = 10;
       },
       true},
      {"DetectFaults",
       [](Policy*, Table* table) { table->detect_filter_construct_corruption = true; }, true},
      {"FitMemory", [](Policy*, Table* table) { table->optimize_filters_for_memory = true; },
       false},
      {"ChargeCache",
       [](Policy*, Table* table) {
         table->block_cache = rocksdb::NewLRUCache(8 << 20);
         table->cache_usage_options.options_overrides.insert(
             {rocksdb::CacheEntryRole::kFilterConstruction,
              {rocksdb::CacheEntryRoleOptions::Decision::kEnabled}});
       },
       true},
  };
  return variants;
}

NewestFilterBitsBuilder& Newest(FilterBitsBuilder& builder) {
  return static_cast<NewestFilterBitsBuilder&>(builder);
}

Filter BuildFilter(FilterBitsBuilder& builder) {
  AddNumbers(builder, kKeys);
  Newest(builder).AddKeyAndAlt("key of a prefix", "prefix");
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

using Parameters = std::tuple<Layout, Variant, Shortage>;

class OutOfMemory : public testing::TestWithParam<Parameters> {
 protected:
  OutOfMemory() { std::get<Variant>(GetParam()).set(&policy_options_, &table_options_); }

  PolicyPointer NewPolicy() const { return std::make_shared<BloomFilterPolicy>(policy_options_); }

  PolicyOptions policy_options_ = PlainPolicy(std::get<Layout>(GetParam()));
  BlockBasedTableOptions table_options_ = PlannedSizes();
};

INSTANTIATE_TEST_SUITE_P(
    All, OutOfMemory,
    testing::Combine(testing::Values(Layout{FilterKind::kClassic, 0},
                                     Layout{FilterKind::kStandard, 1}),
                     testing::ValuesIn(Variants()),
                     testing::Values(Shortage::kOneAllocation, Shortage::kAllThatFollow)),
    [](const auto& test) {
      return NameOf(std::get<Layout>(test.param)) + std::get<Variant>(test.param).name +
             (std::get<Shortage>(test.param) == Shortage::kOneAllocation ? "Once" : "ForLong");
    });

TEST_P(OutOfMemory, ABuilderMakesTheRightFilterOrNone) {
  std::uint64_t without_builder = 0;
  std::uint64_t without_filter = 0;
  std::string last;
  std::vector<std::string> blocks;
  const std::uint64_t failures =
      FailEachAllocation(std::get<Shortage>(GetParam()), [&](AllocationFailure& failure) {
        const PolicyPointer policy = NewPolicy();
        std::unique_ptr<FilterBitsBuilder> builder;
        Filter filter;
        failure.Run([&] {
          builder = NewBuilder(*policy, table_options_);
          if (builder != nullptr) filter = BuildFilter(*builder);
        });
        if (builder == nullptr) {
          ++without_builder;
          return;
        }
        const BloomFilterView view({filter.contents.data(), filter.contents.size()});
        if (view.Status() == BlockStatus::kUsable) {
          EXPECT_EQ(view.Description().keys, kKeys + 2);
          blocks.push_back(filter.contents.ToString());
        } else {
          ++without_filter;
          EXPECT_GT(filter.contents.size(), 5U);  // stock readers pass no key of shorter blocks
        }
        ExpectAllMatch(
            std::unique_ptr<FilterBitsReader>(policy->GetFilterBitsReader(filter.contents)).get());
        // The next partition is not affected.
        AddNumbers(*builder, kKeys);
        const Filter next = FinishAndVerify(*builder);
        EXPECT_EQ(BloomFilterView({next.contents.data(), next.contents.size()}).Description().keys,
                  kKeys);
      });
  EXPECT_GT(without_builder, 0U);
  EXPECT_GT(without_filter, 0U);
  EXPECT_GE(failures, without_builder + without_filter);
  ASSERT_FALSE(blocks.empty());
  if (!std::get<Variant>(GetParam()).same_size) return;
  for (const std::string& block : blocks) EXPECT_EQ(block, blocks.back());
}

TEST_P(OutOfMemory, EstimatesAreOnTheSafeSide) {
  constexpr std::size_t kBytes = 4096;
  const PolicyPointer policy = NewPolicy();
  const auto builder = NewBuilder(*policy, table_options_);
  const std::size_t right_keys = builder->ApproximateNumEntries(kBytes);
  const std::size_t right_bytes = Newest(*builder).CalculateSpace(kKeys);
  const double right_rate = Newest(*builder).EstimatedFpRate(kKeys, kBytes);
  FailEachAllocation(std::get<Shortage>(GetParam()), [&](AllocationFailure& failure) {
    std::size_t keys = 0;
    std::size_t bytes = 0;
    double rate = 0.0;
    failure.Run([&] {
      keys = builder->ApproximateNumEntries(kBytes);
      bytes = Newest(*builder).CalculateSpace(kKeys);
      rate = Newest(*builder).EstimatedFpRate(kKeys, kBytes);
    });
    EXPECT_GT(keys, 0U);
    EXPECT_LE(keys, right_keys);
    EXPECT_GT(bytes, 5U);
    EXPECT_LE(bytes, right_bytes);
    EXPECT_GE(rate, right_rate);
    EXPECT_LE(rate, 1.0);
  });
}

class OutOfMemoryByLayout : public testing::TestWithParam<Layout> {};

INSTANTIATE_TEST_SUITE_P(All, OutOfMemoryByLayout, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(OutOfMemoryByLayout, LargeFiltersAreFilledWhole) {
  constexpr std::uint64_t kLargeKeys = 150'000;
  constexpr std::uint64_t kBits = std::uint64_t{3} << 23;  // several ranges
  FilterDescription filter;
  filter.layout = GetParam();
  filter.bits = kBits;
  filter.keys = kLargeKeys;
  filter.probes = 6;
  const auto build = [&](auto build_array) {
    filter::HashStore hashes;
    for (std::uint64_t i = 0; i < kLargeKeys; ++i) hashes.Append(i * 0x9E3779B97F4A7C15U);
    std::vector<unsigned char> array(filter::ArrayBytes(kBits), 0xAA);
    build_array(array.data(), hashes);
    return array;
  };
  const auto expected = build([&](unsigned char* array, filter::HashStore& hashes) {
    filter::BuildArrayDirectly(array, filter, hashes);
  });
  for (const Shortage shortage : {Shortage::kOneAllocation, Shortage::kAllThatFollow}) {
    const std::uint64_t failures = FailEachAllocation(shortage, [&](AllocationFailure& failure) {
      const auto array = build([&](unsigned char* bytes, filter::HashStore& hashes) {
        failure.Run([&] { filter::BuildArrayByRange(bytes, filter, hashes); });
      });
      EXPECT_TRUE(array == expected);
    });
    EXPECT_GT(failures, 1U);
  }
}

TEST_P(OutOfMemoryByLayout, AReaderThatCannotBeMadePassesAllKeys) {
  const PolicyPointer policy = NewPolicy(GetParam());
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  const PolicyPointer ribbon(rocksdb::NewRibbonFilterPolicy(10));
  for (const PolicyPointer& writer : {policy, bloom, ribbon}) {
    const auto builder = NewBuilder(*writer);
    AddNumbers(*builder, kKeys);
    builder->AddKey("prefix");
    builder->AddKey("key of a prefix");
    const Filter filter = FinishAndVerify(*builder);
    std::uint64_t missing = 0;
    FailEachAllocation(Shortage::kOneAllocation, [&](AllocationFailure& failure) {
      std::unique_ptr<FilterBitsReader> reader;
      failure.Run([&] { reader.reset(policy->GetFilterBitsReader(filter.contents)); });
      if (reader == nullptr) ++missing;
      ExpectAllMatch(reader.get());
    });
    EXPECT_GT(missing, 0U);
  }
}

// At least the code of the error is reported.
TEST_P(OutOfMemoryByLayout, AFaultIsReportedWithoutMemory) {
  BlockBasedTableOptions table_options = PlannedSizes();
  table_options.detect_filter_construct_corruption = true;
  const PolicyPointer policy = NewPolicy(GetParam());
  const auto builder = NewBuilder(*policy, table_options);
  AddNumbers(*builder, kKeys);
  std::unique_ptr<const char[]> buffer;
  const Slice contents = builder->Finish(&buffer, nullptr);
  ++const_cast<char*>(buffer.get())[1];
  const Status status = Starve([&] { return builder->MaybePostVerify(contents); });
  EXPECT_TRUE(status.IsCorruption());
}

// Makes a call in some way: freely, without memory, or with an allocation that fails.
using Call = std::function<void()>;
using Guard = std::function<void(const Call&)>;

void Freely(const Call& call) { call(); }
void Starving(const Call& call) {
  Starve([&] { call(); });
}

template <typename Function>
auto ResultIn(const Guard& guard, Function function) {
  decltype(function()) result{};
  guard([&] { result = function(); });
  return result;
}

// Each call of the policy and of its builders is made in a guard.
class GuardedPolicy : public ForwardingPolicy<rocksdb::FilterPolicy> {
 public:
  GuardedPolicy(PolicyPointer policy, Guard creation, Guard building, Guard reading)
      : ForwardingPolicy(std::move(policy)),
        creation_(std::move(creation)),
        building_(std::move(building)),
        reading_(std::move(reading)) {}

  const char* Name() const override { return "GuardedPolicy"; }
  FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    FilterBitsBuilder* const builder =
        ResultIn(creation_, [&] { return ForwardingPolicy::GetBuilderWithContext(context); });
    return builder == nullptr ? nullptr : new Builder(builder, building_);
  }
  FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return ResultIn(reading_, [&] { return ForwardingPolicy::GetFilterBitsReader(contents); });
  }

 private:
  class Builder : public ForwardingBuilder {
   public:
    Builder(FilterBitsBuilder* builder, Guard guard)
        : ForwardingBuilder(builder), guard_(std::move(guard)) {}

    void AddKey(const Slice& key) override {
      guard_([&] { ForwardingBuilder::AddKey(key); });
    }
    void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
      guard_([&] { ForwardingBuilder::AddKeyAndAlt(key, alt); });
    }
    using ForwardingBuilder::Finish;
    Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
      return ResultIn(guard_, [&] { return ForwardingBuilder::Finish(buffer, status); });
    }
    Status MaybePostVerify(const Slice& filter) override {
      return ResultIn(guard_, [&] { return ForwardingBuilder::MaybePostVerify(filter); });
    }
    std::size_t ApproximateNumEntries(std::size_t bytes) override {
      return ResultIn(guard_, [&] { return ForwardingBuilder::ApproximateNumEntries(bytes); });
    }

   private:
    Guard guard_;
  };

  Guard creation_;
  Guard building_;
  Guard reading_;
};

// The database has memory for everything except filters.
TEST_P(OutOfMemoryByLayout, ADatabaseWithoutMemoryForFiltersFindsAllKeys) {
  for (const bool readers_only : {false, true}) {
    for (const bool partitioned : {false, true}) {
      BlockBasedTableOptions table_options;
      table_options.filter_policy = std::make_shared<GuardedPolicy>(
          NewPolicy(GetParam()), Freely, readers_only ? Freely : Starving, Starving);
      table_options.detect_filter_construct_corruption = true;
      if (partitioned) PartitionFilters(512, &table_options);
      const TemporaryDirectory directory;
      const Database db = Open(OptionsWith(table_options), directory.path("db"));
      PutAndFlush(*db, kKeys, "old");
      PutAndFlush(*db, kKeys / 2, "new");
      ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
      ExpectPresent(*db, kKeys / 2, "new");
      ExpectPresent(*db, kKeys - kKeys / 2, "old", kKeys / 2);
      EXPECT_EQ(MultiGetAll(*db, kKeys).useful, 0U);
      EXPECT_EQ(AskAbsent(*db, kKeys - 1).useful, 0U);
    }
  }
}

class GuardedListener : public rocksdb::EventListener {
 public:
  GuardedListener(ListenerPointer listener, Guard guard)
      : listener_(std::move(listener)), guard_(std::move(guard)) {}

  const char* Name() const override { return listener_->Name(); }
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    guard_([&] { listener_->OnFlushBegin(db, info); });
  }
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override {
    guard_([&] { listener_->OnFlushCompleted(db, info); });
  }
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override {
    guard_([&] { listener_->OnCompactionBegin(db, info); });
  }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override {
    guard_([&] { listener_->OnCompactionCompleted(db, info); });
  }
  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    guard_([&] { listener_->OnTableFileCreationStarted(info); });
  }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    guard_([&] { listener_->OnTableFileCreated(info); });
  }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    guard_([&] { listener_->OnTableFileDeleted(info); });
  }
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    guard_([&] { listener_->OnColumnFamilyHandleDeletionStarted(handle); });
  }

 private:
  ListenerPointer listener_;
  Guard guard_;
};

// Each allocation of the listener and the policy fails in turn, in a database whose tree they
// follow.
TEST(OutOfMemoryWithATree, NoKeyIsLostAndTheTreeIsKnownAgain) {
  constexpr std::uint64_t kFew = 200;
  for (const Shortage shortage : {Shortage::kOneAllocation, Shortage::kAllThatFollow}) {
    std::uint64_t attempts = 0;
    const std::uint64_t failures = FailEachAllocation(shortage, [&](AllocationFailure& failure) {
      std::mutex mutex;
      bool is_on = true;
      const Guard fails = [&](const Call& call) {
        const std::lock_guard<std::mutex> lock(mutex);
        is_on ? failure.Run([&] { call(); }) : call();
      };
      const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
      const ListenerPointer listener = NewTreeListener();
      rocksdb::Options options = OptionsWith(std::make_shared<GuardedPolicy>(
          PolicyOf(BudgetOptions(100'000, 10.0)), fails, fails, Freely));
      options.listeners.push_back(std::make_shared<GuardedListener>(listener, fails));
      options.env = memory.get();
      const Database db = Open(options, "/db");
      PutAndFlush(*db, kFew, "old");
      PutAndFlush(*db, kFew, "old", kFew);
      ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
      PutAndFlush(*db, kFew, "new");
      ExpectPresent(*db, kFew, "new");
      ExpectPresent(*db, kFew, "old", kFew);
      {
        const std::lock_guard<std::mutex> lock(mutex);
        is_on = false;
      }
      if (++attempts % 16 != 1) return;
      // A later scan of the tables finds the rest.
      ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
      PutAndFlush(*db, kFew, "value", 2 * kFew);
      ExpectTrueShape(*db, listener);
    });
    EXPECT_GT(failures, 20U);
  }
}

// RocksDB's parser may throw std::bad_alloc. Otherwise the result is the policy of the text, no
// policy, or one that databases refuse. The C interface returns either a policy or an error.
TEST(OutOfMemoryOfConfiguration, APolicyFromAStringIsRightOrRefused) {
  const std::vector<std::string> texts = {
      "classic_bloom:12", "{id=classic_bloom:12;lines=1;hash_seed=7;}",
      "{id=standard_bloom:9.9;level_bits=14:12:10;}", "{id=standard_bloom:10;fpr=0.001;}"};
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
      } catch (const std::bad_alloc&) {
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
    for (const Shortage shortage : {Shortage::kOneAllocation, Shortage::kAllThatFollow}) {
      EXPECT_GT(FailEachAllocation(shortage, attempt), 3U);
      EXPECT_GT(FailEachAllocation(shortage, attempt_in_c), 3U);
    }
    EXPECT_GT(refused, 0U);
  }
}

}  // namespace
}  // namespace exactbloom
