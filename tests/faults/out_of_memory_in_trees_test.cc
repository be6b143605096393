// Each allocation of what follows the trees of databases fails in turn: no key is lost, and the
// trees are known again.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "allocation_failure.h"
#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "family_database.h"
#include "followed_database.h"
#include "forwarding_builder.h"
#include "plugin/c_binding/forwarding_policy.h"
#include "plugin/live_tree/registry.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using faults::AllocationFailure;
using faults::FamilyDatabase;
using faults::ThrowAtEachAllocation;
using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;

// Makes a call in some way, such as with an allocation that fails.
using Guard = std::function<void(const std::function<void()>&)>;

template <typename Function>
auto ResultIn(const Guard& guard, Function function) {
  decltype(function()) result{};
  guard([&] { result = function(); });
  return result;
}

// Each call of the policy and of its builders is made in a guard.
class GuardedPolicy : public ForwardingPolicy<rocksdb::FilterPolicy> {
 public:
  GuardedPolicy(PolicyPointer policy, Guard guard)
      : ForwardingPolicy(std::move(policy)), guard_(std::move(guard)) {}

  const char* Name() const override { return "GuardedPolicy"; }
  FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    FilterBitsBuilder* const builder =
        ResultIn(guard_, [&] { return ForwardingPolicy::GetBuilderWithContext(context); });
    return builder == nullptr ? nullptr : new Builder(builder, guard_);
  }
  FilterBitsReader* GetFilterBitsReader(const Slice& contents) const override {
    return ResultIn(guard_, [&] { return ForwardingPolicy::GetFilterBitsReader(contents); });
  }

 private:
  class Builder : public ForwardingBuilder {
   public:
    Builder(FilterBitsBuilder* builder, Guard guard)
        : ForwardingBuilder(builder), guard_(std::move(guard)) {}

    void AddKey(const Slice& key) override {
      guard_([&] { ForwardingBuilder::AddKey(key); });
    }
    using ForwardingBuilder::Finish;
    Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
      return ResultIn(guard_, [&] { return ForwardingBuilder::Finish(buffer, status); });
    }

   private:
    Guard guard_;
  };

  Guard guard_;
};

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
    listener_->OnColumnFamilyHandleDeletionStarted(handle);
  }

 private:
  ListenerPointer listener_;
  Guard guard_;
};

// Each allocation of the listener, the policy, its builders and readers fails in turn, in a
// database of ten column families and one of one, whose trees they follow.
TEST(OutOfMemoryWithATree, NoKeyIsLostAndTheTreeIsKnownAgain) {
  constexpr std::uint64_t kFew = 40;
  std::uint64_t attempts = 0;
  const std::uint64_t failures = ThrowAtEachAllocation(
      [&](AllocationFailure& failure) {
        std::mutex mutex;
        std::atomic<bool> is_on = true;
        const Guard fails = [&](const auto& call) {
          const std::lock_guard<std::mutex> lock(mutex);
          is_on ? failure.Run(call) : call();
        };
        const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
        const ListenerPointer listener = NewTreeListener();
        rocksdb::BlockBasedTableOptions table_options;
        table_options.filter_policy =
            std::make_shared<GuardedPolicy>(PolicyOf(BudgetOptions(100'000, 10.0)), fails);
        if (++attempts % 2 == 0) PartitionFilters(128, &table_options);
        rocksdb::Options options = OptionsWith(table_options);
        options.listeners.push_back(std::make_shared<GuardedListener>(listener, fails));
        options.env = memory.get();
        FamilyDatabase families;
        ASSERT_TRUE(families.Open({options}, "/families").ok());
        const Database other = Open(options, "/other");
        const auto in_each_family = [&](const auto& call) {
          for (rocksdb::ColumnFamilyHandle* family : families.handles()) call(*families, family);
          call(*other, other->DefaultColumnFamily());
        };
        const auto compact = [](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
          ASSERT_TRUE(db.CompactRange({}, family, nullptr, nullptr).ok());
        };
        in_each_family([&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
          PutAndFlush(db, kFew, "old", 0, family);
          PutAndFlush(db, kFew, "old", kFew, family);
        });
        in_each_family(compact);
        in_each_family([&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
          PutAndFlush(db, kFew, "new", 0, family);
          ExpectPresent(db, kFew, "new", 0, family);
          ExpectPresent(db, kFew, "old", kFew, family);
        });
        MultiGetAll(*families, 2 * kFew);
        MultiGetAll(*other, 2 * kFew);
        is_on = false;
        if (attempts % 16 > 1) return;
        in_each_family(compact);
        in_each_family([&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
          PutAndFlush(db, kFew, "value", 2 * kFew, family);
        });
        ASSERT_TRUE(
            FollowDatabase(&*families, families.handles()).ok());  // what events did not tell
        ASSERT_TRUE(FollowDatabase(other.get()).ok());
        ExpectKnownTrees(*families);
        ExpectKnownTrees(*other);
      },
      /*each=*/16);
  EXPECT_GT(failures, 40U);
}

// Closing a database takes its families out of the budget, also one that has entered it by half.
TEST(OutOfMemoryWithATree, NoBudgetKeepsAFamilyOfAClosedDatabase) {
  const std::uint64_t failures = ThrowAtEachAllocation([](AllocationFailure& failure) {
    const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    rocksdb::Options options = OptionsWith(PolicyOf(AutoOptions()));
    options.listeners.push_back(NewTreeListener());
    options.env = memory.get();
    Database db = Open(options, "/db");
    PutAndFlush(*db, 1'000);
    tree::SizingOptions sizing;
    {
      const auto lock = tree::Registry::Get().Lock();
      sizing.budget = &tree::Registry::Get().NamedBudget("entered");
    }
    const auto database = tree::Registry::Get().Find(*db);
    try {
      const auto lock = database->Lock();
      const auto family = database->Find(rocksdb::kDefaultColumnFamilyName);
      failure.Run([&] { family->SetPolicy(sizing); });
    } catch (...) {
      EXPECT_TRUE(failure.HasHappened());
    }
    db.reset();
    const MemoryBudgetUse use = GetMemoryBudgetUse("entered");
    EXPECT_EQ(use.families.size() + use.used_bytes, 0U);
  });
  EXPECT_GT(failures, 5U);
}

}  // namespace
}  // namespace exactbloom
