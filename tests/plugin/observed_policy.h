// A policy that shows a test the blocks of another policy's filters, between their construction and
// their verification.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "plugin/filter_bits_interface.h"
#include "sample_database.h"

namespace exactbloom {

class ObservedPolicy : public rocksdb::FilterPolicy {
 public:
  using Observe = std::function<void(char* block, std::size_t size)>;

  ObservedPolicy(PolicyPointer policy, Observe observe)
      : policy_(std::move(policy)), observe_(std::move(observe)) {}

  const char* Name() const override { return policy_->Name(); }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return new Builder(policy_->GetBuilderWithContext(context), observe_);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 private:
  class Builder : public rocksdb::FilterBitsBuilder {
   public:
    Builder(rocksdb::FilterBitsBuilder* builder, const Observe& observe)
        : builder_(builder), observe_(observe) {}

    void AddKey(const rocksdb::Slice& key) override { builder_->AddKey(key); }
    size_t EstimateEntriesAdded() override { return builder_->EstimateEntriesAdded(); }
    rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer) override {
      return Finish(buffer, nullptr);
    }
    rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
      const rocksdb::Slice contents = builder_->Finish(buffer, status);
      observe_(const_cast<char*>(buffer->get()), contents.size());
      return contents;
    }
    rocksdb::Status MaybePostVerify(const rocksdb::Slice& contents) override {
      return builder_->MaybePostVerify(contents);
    }
    size_t ApproximateNumEntries(size_t bytes) override {
      return builder_->ApproximateNumEntries(bytes);
    }

   private:
    std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
    const Observe& observe_;
  };

  PolicyPointer policy_;
  Observe observe_;
};

}  // namespace exactbloom
