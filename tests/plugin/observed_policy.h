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
#include "plugin/c_binding/forwarding_policy.h"
#include "sample_database.h"

namespace exactbloom {

class ObservedPolicy : public ForwardingPolicy<rocksdb::FilterPolicy> {
 public:
  using Observe = std::function<void(char* block, std::size_t size)>;

  ObservedPolicy(PolicyPointer policy, Observe observe)
      : ForwardingPolicy(std::move(policy)), observe_(std::move(observe)) {}

  // Newer versions compare it with that of the policy that they read from the OPTIONS file.
  std::string GetId() const override { return Target().GetId(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return new Builder(ForwardingPolicy::GetBuilderWithContext(context), observe_);
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

  Observe observe_;
};

}  // namespace exactbloom
