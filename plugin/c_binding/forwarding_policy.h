// Filter policies that forward to another policy.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>
#include <utility>

#include "../exception_barrier.h"
#include "../policy_options.h"
#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// Forwards building, reading and names. Base is FilterPolicy or a class derived from it.
template <typename Base>
class ForwardingPolicy : public Base {
 public:
  explicit ForwardingPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy)
      : policy_(std::move(policy)) {}

  const char* Name() const override { return policy_->Name(); }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return policy_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 protected:
  const rocksdb::FilterPolicy& Target() const { return *policy_; }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
};

// Also forwards options.
template <typename Base>
class SharedPolicy : public ForwardingPolicy<Base> {
 public:
  using ForwardingPolicy<Base>::ForwardingPolicy;

  std::string GetId() const override { return this->Target().GetId(); }
  const rocksdb::Customizable* Inner() const override { return &this->Target(); }

  bool AreEquivalent(const rocksdb::ConfigOptions& config_options,
                     const rocksdb::Configurable* other, std::string* mismatch) const override {
    return this->Target().AreEquivalent(config_options, other, mismatch);
  }

  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db_options,
                                  const rocksdb::ColumnFamilyOptions& cf_options) const override {
    return this->Target().ValidateOptions(db_options, cf_options);
  }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return this->Target().template GetOptions<void>(name);
  }

  // An OPTIONS file names the other policy, with its options.
  std::string SerializeOptions(const rocksdb::ConfigOptions& config_options,
                               const std::string& header) const override {
    return ResultOr(RefusedPolicyId(this->Name()), [&] {
      const std::string text = this->Target().ToString(config_options, header);
      const bool braced = text.size() > 1 && text.front() == '{' && text.back() == '}';
      return braced ? text.substr(1, text.size() - 2) : text;  // the caller adds braces
    });
  }
};

}  // namespace exactbloom
