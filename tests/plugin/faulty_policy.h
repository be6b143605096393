// A policy whose filters get a fault between their construction and their verification.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "forwarding_builder.h"
#include "plugin/c_binding/forwarding_policy.h"
#include "sample_database.h"

namespace exactbloom {

class FaultyPolicy : public ForwardingPolicy<rocksdb::FilterPolicy> {
 public:
  using Keys = std::vector<std::string>;  // that were added, prefixes as well
  using Fault = std::function<void(char* block, std::size_t size, const Keys& keys)>;

  FaultyPolicy(PolicyPointer policy, Fault fault)
      : ForwardingPolicy(std::move(policy)), fault_(std::move(fault)) {}

  const char* Name() const override { return "faulty"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return new Builder(ForwardingPolicy::GetBuilderWithContext(context), fault_);
  }

 private:
  class Builder : public ForwardingBuilder {
   public:
    Builder(rocksdb::FilterBitsBuilder* builder, const Fault& fault)
        : ForwardingBuilder(builder), fault_(fault) {}

    void AddKey(const rocksdb::Slice& key) override {
      keys_.push_back(key.ToString());
      ForwardingBuilder::AddKey(key);
    }
    void AddKeyAndAlt(const rocksdb::Slice& key, const rocksdb::Slice& alt) override {
      keys_.push_back(key.ToString());
      keys_.push_back(alt.ToString());
      ForwardingBuilder::AddKeyAndAlt(key, alt);
    }
    using ForwardingBuilder::Finish;
    rocksdb::Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
      const rocksdb::Slice contents = ForwardingBuilder::Finish(buffer, status);
      fault_(const_cast<char*>(buffer->get()), contents.size(), keys_);
      keys_.clear();
      return contents;
    }

   private:
    const Fault& fault_;
    FaultyPolicy::Keys keys_;
  };

  Fault fault_;
};

}  // namespace exactbloom
