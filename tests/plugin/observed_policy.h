// A policy that shows a test the blocks of another policy's filters, between their construction and
// their verification.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "forwarding_builder.h"
#include "sample_database.h"

namespace exactbloom {

class ObservedPolicy : public rocksdb::FilterPolicy {
 public:
  using Observe = std::function<void(char* block, std::size_t size)>;

  ObservedPolicy(PolicyPointer policy, Observe observe)
      : policy_(std::move(policy)), observe_(std::move(observe)) {}

  const char* Name() const override { return policy_->Name(); }
  // Newer versions compare it with that of the policy that they read from the OPTIONS file.
  std::string GetId() const override { return policy_->GetId(); }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return new Builder(policy_->GetBuilderWithContext(context), observe_);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 private:
  class Builder : public ForwardingBuilder {
   public:
    Builder(rocksdb::FilterBitsBuilder* builder, const Observe& observe)
        : ForwardingBuilder(builder), observe_(observe) {}

    using ForwardingBuilder::Finish;
    rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
      const rocksdb::Slice contents = ForwardingBuilder::Finish(buffer, status);
      observe_(const_cast<char*>(buffer->get()), contents.size());
      return contents;
    }

   private:
    const Observe& observe_;
  };

  PolicyPointer policy_;
  Observe observe_;
};

}  // namespace exactbloom
