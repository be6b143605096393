// No exception leaves a function that RocksDB calls: each allocation in it throws std::bad_alloc in
// turn, and then another exception. What is returned instead is safe.
#include "plugin/exception_barrier.h"

#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/object_registry.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "allocation_failure.h"
#include "bits_builder_fixture.h"
#include "exactbloom/c.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/c_binding/c_policy.h"
#include "plugin/cache_charge.h"
#include "sample_database.h"

extern "C" int RegisterExactBloom(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                  const std::string& argument);

namespace exactbloom {
namespace {

using faults::AllocationFailure;
using faults::OtherException;
using faults::Shortage;
using faults::Starve;
using faults::ThrowAtEachAllocation;
using rocksdb::ConfigOptions;
using rocksdb::FilterPolicy;
using rocksdb::Status;

TEST(ExceptionBarrier, TellsWhatWasThrown) {
  EXPECT_TRUE(StatusOf([]() -> Status { throw std::bad_alloc(); }).IsMemoryLimit());
  EXPECT_TRUE(StatusOf([]() -> Status { throw std::length_error("too long"); }).IsAborted());
  EXPECT_TRUE(StatusOf([]() -> Status { throw OtherException(); }).IsAborted());
  EXPECT_TRUE(StatusOf([] { return Status::OK(); }).ok());
  EXPECT_EQ(ResultOr(1, []() -> int { throw OtherException(); }), 1);
  EXPECT_EQ(ResultOr(1, [] { return 2; }), 2);
}

// With the functions that RocksDB calls by way of FilterPolicy and its bases.
template <typename Policy>
class Called : public Policy {
 public:
  using Policy::ConfigureOptions;
  using Policy::GetOptionsPtr;
  using Policy::Policy;
  using Policy::SerializeOptions;
};

PolicyOptions NamedOptions() {
  PolicyOptions options(PolicyKind::kExactBloom);
  options.bits_per_key = 9.25;
  options.budget = "a_budget_with_a_name_of_some_length";
  return options;
}

// A reader of the text gets the policy, or an error.
void ExpectRightOrRefused(const std::string& text, const std::string& right) {
  if (text == right) return;
  PolicyOptions options;
  EXPECT_FALSE(ParsePolicy(text, &options).ok()) << text;
}

// Returns how many were refused.
template <typename Policy>
std::uint64_t ExpectTextsRightOrRefused(const Policy& policy) {
  const ConfigOptions config;
  const std::string id = policy.GetId();
  const std::string text = policy.SerializeOptions(config, "");
  std::string found;
  std::uint64_t refused = 0;
  const auto expect = [&](const std::string& right, const std::function<std::string()>& call) {
    const std::uint64_t failures = ThrowAtEachAllocation([&](AllocationFailure& failure) {
      found.clear();
      failure.Run([&] { found = call(); });
      ExpectRightOrRefused(found, right);
      refused += found == right ? 0 : 1;
    });
    EXPECT_GT(failures, 3U);
  };
  expect(id, [&] { return policy.GetId(); });
  expect(text, [&] { return policy.SerializeOptions(config, ""); });
  EXPECT_STREQ(Starve([&] { return policy.CompatibilityName(); }), policy.CompatibilityName());
  return refused;
}

TEST(PolicyCalls, TextsAreRightOrRefused) {
  std::uint64_t refused = 0;
  for (const PolicyKind kind : kPolicyKinds) {
    for (const double bits_per_key : {8.125, 10.0}) {
      PolicyOptions options = kind == PolicyKind::kExactBloom && bits_per_key == 10.0
                                  ? NamedOptions()
                                  : PolicyOptions(kind);
      if (bits_per_key != 10.0) options.bits_per_key = bits_per_key;
      SCOPED_TRACE(FormatPolicy(options));
      refused += ExpectTextsRightOrRefused(Called<BloomFilterPolicy>(options));
      refused +=
          ExpectTextsRightOrRefused(Called<CPolicy>(std::make_shared<BloomFilterPolicy>(options)));
    }
  }
  EXPECT_GT(refused, 50U);
}

TEST(PolicyCalls, APolicyThatCannotBeComparedIsNotEquivalent) {
  const auto policy = std::make_shared<BloomFilterPolicy>(NamedOptions());
  const BloomFilterPolicy same(NamedOptions());
  const BloomFilterPolicy other(PolicyKind::kExactBloom);
  const CPolicy for_c(policy);
  const ConfigOptions config;
  std::string mismatch;
  for (const FilterPolicy* of :
       {static_cast<const FilterPolicy*>(policy.get()), static_cast<const FilterPolicy*>(&for_c)}) {
    ASSERT_TRUE(of->AreEquivalent(config, &same, &mismatch));
    std::uint64_t differing = 0;
    ThrowAtEachAllocation([&](AllocationFailure& failure) {
      if (!failure.Run([&] { return of->AreEquivalent(config, &same, &mismatch); })) ++differing;
      EXPECT_FALSE(failure.Run([&] { return of->AreEquivalent(config, &other, &mismatch); }));
    });
    EXPECT_GT(differing, 3U);
  }
}

TEST(PolicyCalls, APolicyThatCannotBeValidatedIsRefused) {
  const auto with_error = std::make_shared<BloomFilterPolicy>(
      PolicyKind::kExactBloom, Status::InvalidArgument("a text that is longer than a few letters"));
  const auto without_listener = std::make_shared<BloomFilterPolicy>(NamedOptions());
  const CPolicy for_c(without_listener);
  const rocksdb::Options options;
  const ConfigOptions config;
  std::uint64_t shortages = 0;
  std::uint64_t others = 0;
  ThrowAtEachAllocation([&](AllocationFailure& failure) {
    const auto expect_refused = [&](const FilterPolicy& policy) {
      const Status status = failure.Run([&] { return policy.ValidateOptions(options, options); });
      EXPECT_FALSE(status.ok());
      shortages += status.IsMemoryLimit() ? 1 : 0;
      others += status.IsAborted() ? 1 : 0;
    };
    expect_refused(*with_error);
    expect_refused(*without_listener);
    expect_refused(for_c);
    const Status prepared = failure.Run([&] { return with_error->PrepareOptions(config); });
    EXPECT_FALSE(prepared.ok());
  });
  EXPECT_GT(shortages, 0U);
  EXPECT_GT(others, 0U);
}

TEST(PolicyCalls, APolicyIsConfiguredOrRefusedFromThenOn) {
  const std::unordered_map<std::string, std::string> values = {
      {"bits_per_key", "8.125"}, {"budget", "another_budget_with_a_long_name"}};
  ConfigOptions config;
  Called<BloomFilterPolicy> right(NamedOptions());
  ASSERT_TRUE(right.ConfigureOptions(config, values, nullptr).ok());
  std::uint64_t refused = 0;
  const std::uint64_t failures = ThrowAtEachAllocation([&](AllocationFailure& failure) {
    Called<BloomFilterPolicy> policy(NamedOptions());
    const Status status =
        failure.Run([&] { return policy.ConfigureOptions(config, values, nullptr); });
    EXPECT_EQ(policy.PrepareOptions(config).ok(), status.ok());
    if (status.ok()) {
      EXPECT_EQ(policy.GetId(), right.GetId());
    } else {
      ++refused;
    }
  });
  EXPECT_GT(failures, 10U);
  EXPECT_GT(refused, 10U);
}

TEST(PolicyCalls, PointersAreRightOrNull) {
  const Called<BloomFilterPolicy> policy(NamedOptions());
  const void* const right = &policy;
  for (const std::string& name : {std::string("exactbloom.policy"), std::string("FilterPolicy"),
                                  std::string("a name that nothing here has")}) {
    ThrowAtEachAllocation([&](AllocationFailure& failure) {
      const void* found = failure.Run([&] { return policy.GetOptionsPtr(name); });
      EXPECT_TRUE(found == nullptr || found == right);
    });
  }
}

// Made and asked as RocksDB does, of Bloom and of Ribbon filters.
TEST(CCalls, ATextIsWholeOrNullWithAnError) {
  constexpr char kName[] = "a_budget_with_a_name_of_some_length";
  exactbloom_set_memory_budget(kName, "123456789", nullptr, nullptr);
  std::uint64_t errors = 0;
  const std::uint64_t failures = ThrowAtEachAllocation([&](AllocationFailure& failure) {
    char* error = nullptr;
    char* text = failure.Run([&] { return exactbloom_memory_budget_use(kName, &error); });
    EXPECT_EQ(text == nullptr, error != nullptr);
    errors += error == nullptr ? 0 : 1;
    const std::string whole = R"({"bound_bytes":123456789,"used_bytes":0,"covers":"filters",)"
                              R"("index_bytes":0,"column_families":[]})";
    EXPECT_EQ(text == nullptr ? whole : text, whole);
    std::free(text);
    std::free(error);
  });
  EXPECT_GT(failures, 10U);
  EXPECT_EQ(errors, failures);
}

TEST(BuilderCalls, EstimatesAndAnswersTakeNoMemory) {
  for (const PolicyKind kind : kPolicyKinds) {
    SCOPED_TRACE(PolicyName(kind));
    if (kind == PolicyKind::kRocksDBBloom) continue;
    const BloomFilterPolicy policy((PolicyOptions(kind)));
    const auto builder = NewBuilder(policy);
    auto& newest = static_cast<NewestFilterBitsBuilder&>(*builder);
    constexpr std::uint64_t kKeys = 5000;
    const std::size_t keys = newest.ApproximateNumEntries(4096);
    const std::size_t bytes = newest.CalculateSpace(kKeys);
    const double rate = newest.EstimatedFpRate(kKeys, bytes);
    Starve([&] {
      EXPECT_EQ(newest.ApproximateNumEntries(4096), keys);
      EXPECT_EQ(newest.CalculateSpace(kKeys), bytes);
      EXPECT_EQ(newest.EstimatedFpRate(kKeys, bytes), rate);
      return true;
    });
    AddNumbers(*builder, kKeys);
    const Filter filter = FinishAndVerify(*builder);
    const std::unique_ptr<rocksdb::FilterBitsReader> reader(
        policy.GetFilterBitsReader(filter.contents));
    rocksdb::Slice present("\0\0\0\0\0\0\0\0", 8);
    rocksdb::Slice* asked[] = {&present};
    bool may_match = false;
    EXPECT_TRUE(Starve([&] { return reader->MayMatch(present); }));
    Starve([&] {
      reader->MayMatch(1, asked, &may_match);
      return true;
    });
    EXPECT_TRUE(may_match);
  }
}

// A program's own Logger may throw anything.
class ThrowingLogger : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override { throw OtherException(); }
};

TEST(BuilderCalls, ALoggerThatThrowsLeavesATableWithoutFilter) {
  ThrowingLogger log;
  const BloomFilterPolicy policy(PolicyKind::kClassicBloom);
  const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.info_log = &log;
  EXPECT_NO_THROW(delete policy.GetBuilderWithContext(context));
}

TEST(Factories, MakeAnObjectOrAnError) {
  rocksdb::ObjectLibrary library("exactbloom_test");
  EXPECT_EQ(RegisterExactBloom(library, ""), 6);
  const auto expect = [&](const auto& factory, const std::string& id, auto* made) {
    std::uint64_t errors = 0;
    ThrowAtEachAllocation([&](AllocationFailure& failure) {
      std::string error;
      made->reset();
      auto* const found = failure.Run([&] { return factory(id, made, &error); });
      EXPECT_EQ(found == nullptr, !error.empty());
      errors += error.empty() ? 0 : 1;
    });
    EXPECT_GT(errors, 0U);
  };
  std::unique_ptr<const FilterPolicy> policy;
  expect(library.FindFactory<const FilterPolicy>("classic_bloom:9.125"), "classic_bloom:9.125",
         &policy);
  std::unique_ptr<rocksdb::EventListener> listener;
  expect(library.FindFactory<rocksdb::EventListener>(kTreeListenerName), kTreeListenerName,
         &listener);
  ThrowAtEachAllocation([&](AllocationFailure& failure) {
    rocksdb::ObjectLibrary other("exactbloom_test");
    failure.Run([&] { return RegisterExactBloom(other, ""); });
  });
}

// Events of jobs that are told of one by one; databases with all of them are in
// out_of_memory_in_trees_test.cc.
TEST(ListenerCalls, NoEventThrows) {
  const auto listener = NewTreeListener();
  rocksdb::Options options = OptionsWith(NewFilterPolicy("exactbloom:10"));
  options.listeners.push_back(listener);
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  const Database db = Open(options, path);
  PutAndFlush(*db, 100);
  // RocksDB itself bears no exception while it reads the properties of tables.
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  rocksdb::ExternalFileIngestionInfo ingested;
  ingested.cf_name = rocksdb::kDefaultColumnFamilyName;
  ingested.internal_file_path = path + "/000999.sst";
  rocksdb::TableFileDeletionInfo deleted;
  deleted.db_name = path;
  deleted.file_path = path + "/000998.sst";
  rocksdb::TableFileCreationInfo created;
  created.db_name = path;
  created.cf_name = rocksdb::kDefaultColumnFamilyName;
  created.file_path = path + "/000997.sst";
  rocksdb::FlushJobInfo flush;
  flush.cf_name = "a family with a name that is longer than others";
  rocksdb::CompactionJobInfo compaction;
  compaction.cf_name = flush.cf_name;
  compaction.input_files = {path + "/000996.sst"};
  compaction.input_file_infos.resize(1);
  rocksdb::Status error = Status::IOError();
  ThrowAtEachAllocation([&](AllocationFailure& failure) {
    failure.Run([&] {
      listener->OnExternalFileIngested(db.get(), ingested);
      listener->OnTableFileCreationStarted(created);
      listener->OnTableFileCreated(created);
      listener->OnTableFileDeleted(deleted);
      listener->OnFlushBegin(db.get(), flush);
      listener->OnFlushCompleted(db.get(), flush);
      listener->OnCompactionBegin(db.get(), compaction);
      listener->OnCompactionCompleted(db.get(), compaction);
      listener->OnBackgroundError(rocksdb::BackgroundErrorReason::kFlush, &error);
      return true;
    });
  });
  Starve([&] {
    listener->OnColumnFamilyHandleDeletionStarted(db->DefaultColumnFamily());
    return true;
  });
}

// Beside what the cache takes for an entry: the entries are copied when their room doubles.
TEST(CacheChargeCalls, TakeMemoryWhenTheRoomDoubles) {
  constexpr std::size_t kEntries = 2000;
  const auto cache = rocksdb::NewLRUCache(2 * kEntries * CacheCharge::kEntryBytes);
  const auto of_charge = [&] {
    CacheCharge charge(cache);
    AllocationFailure none(~std::uint64_t{0}, Shortage::kOneAllocation);
    none.Run([&] {
      for (std::size_t i = 1; i <= kEntries; ++i) charge.Set(i * CacheCharge::kEntryBytes);
      return true;
    });
    EXPECT_GE(cache->GetPinnedUsage(), kEntries * CacheCharge::kEntryBytes);
    return none.Allocations();
  };
  const auto of_cache = [&] {
    std::vector<rocksdb::Cache::Handle*> handles(kEntries);
    AllocationFailure none(~std::uint64_t{0}, Shortage::kOneAllocation);
    none.Run([&] {
      for (std::uint64_t i = 0; i < kEntries; ++i) {
        const rocksdb::Slice key(reinterpret_cast<const char*>(&i), sizeof(i));
        EXPECT_TRUE(InsertCharge(*cache, key, CacheCharge::kEntryBytes, &handles[i]).ok());
      }
      return true;
    });
    for (rocksdb::Cache::Handle* handle : handles) cache->Release(handle, true);
    return none.Allocations();
  };
  of_cache();  // its own table grows
  const std::uint64_t least = of_cache();
  EXPECT_LT(of_charge(), least + kEntries / 50);
}

}  // namespace
}  // namespace exactbloom
