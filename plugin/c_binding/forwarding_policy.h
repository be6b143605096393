// A filter policy that hands everything on to another one, which it shares.
#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>
#include <utility>

namespace exactbloom {

// Base is FilterPolicy or a class derived from it.
template <typename Base>
class ForwardingPolicy : public Base {
 public:
  explicit ForwardingPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy)
      : policy_(std::move(policy)) {}

  const char* Name() const override { return policy_->Name(); }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  std::string GetId() const override { return policy_->GetId(); }
  const rocksdb::Customizable* Inner() const override { return policy_.get(); }

  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db_options,
                                  const rocksdb::ColumnFamilyOptions& cf_options) const override {
    return policy_->ValidateOptions(db_options, cf_options);
  }

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return policy_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 protected:
  // So that an OPTIONS file names the other policy with its options.
  std::string SerializeOptions(const rocksdb::ConfigOptions& config_options,
                               const std::string& header) const override {
    const std::string text = policy_->ToString(config_options, header);
    const bool braced = text.size() > 1 && text.front() == '{' && text.back() == '}';
    return braced ? text.substr(1, text.size() - 2) : text;  // whoever asks adds them again
  }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
};

}  // namespace exactbloom
