// Memory that runs short in a database, and while a policy is configured.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "allocation_failure.h"
#include "exactbloom/filter_policy.h"
#include "forwarding_builder.h"
#include "sample_database.h"
#include "sample_filters.h"

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

constexpr std::uint64_t kKeys = 3000;

// The policy in a real database that has memory for everything except filters.
class StarvedPolicy : public rocksdb::FilterPolicy {
 public:
  StarvedPolicy(PolicyPointer policy, bool readers_only)
      : policy_(std::move(policy)), readers_only_(readers_only) {}

  const char* Name() const override { return "StarvedPolicy"; }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    FilterBitsBuilder* builder = policy_->GetBuilderWithContext(context);
    return readers_only_ ? builder : new StarvedBuilder(builder);
  }
  FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    FilterBitsReader* reader = Starve([&] { return policy_->GetFilterBitsReader(contents); });
    EXPECT_EQ(reader, nullptr);
    return reader;
  }

 private:
  class StarvedBuilder : public ForwardingBuilder {
   public:
    using ForwardingBuilder::ForwardingBuilder;

    void AddKey(const Slice& key) override {
      Starve([&] { ForwardingBuilder::AddKey(key); });
    }
    void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
      Starve([&] { ForwardingBuilder::AddKeyAndAlt(key, alt); });
    }
    using ForwardingBuilder::Finish;
    Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
      return Starve([&] { return ForwardingBuilder::Finish(buffer, status); });
    }
    Status MaybePostVerify(const Slice& filter) override {
      return Starve([&] { return ForwardingBuilder::MaybePostVerify(filter); });
    }
    std::size_t ApproximateNumEntries(std::size_t bytes) override {
      return Starve([&] { return ForwardingBuilder::ApproximateNumEntries(bytes); });
    }
  };

  PolicyPointer policy_;
  bool readers_only_;
};

class OutOfMemoryInDatabase : public testing::TestWithParam<Layout> {};

INSTANTIATE_TEST_SUITE_P(All, OutOfMemoryInDatabase, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(OutOfMemoryInDatabase, ADatabaseWithoutMemoryForFiltersFindsAllKeys) {
  for (const bool readers_only : {false, true}) {
    for (const bool partitioned : {false, true}) {
      BlockBasedTableOptions table_options;
      table_options.filter_policy =
          std::make_shared<StarvedPolicy>(NewPolicy(GetParam()), readers_only);
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

// RocksDB's parser may throw std::bad_alloc itself. The result is then the policy of the text, or
// no policy, or one that databases refuse.
TEST(OutOfMemoryOfConfiguration, APolicyFromAStringIsRightOrRefused) {
  const std::vector<std::string> texts = {
      "classic_bloom:12", "{id=classic_bloom:12;lines=2;hash_seed=7;}",
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
    EXPECT_GT(FailEachAllocation(Shortage::kOneAllocation, attempt), 3U);
    EXPECT_GT(FailEachAllocation(Shortage::kAllThatFollow, attempt), 3U);
    EXPECT_GT(refused, 0U);
  }
}

}  // namespace
}  // namespace exactbloom
