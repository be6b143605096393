#include "faulty_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "forwarding_builder.h"
#include "plugin/c_binding/forwarding_policy.h"
#include "sample_database.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;

using Keys = std::vector<std::string>;
using Fault = std::function<void(std::string* block, const Keys& keys)>;

class FaultyBuilder : public ForwardingBuilder {
 public:
  FaultyBuilder(rocksdb::FilterBitsBuilder* builder, Fault fault)
      : ForwardingBuilder(builder), fault_(std::move(fault)) {}

  void AddKey(const Slice& key) override {
    keys_.push_back(key.ToString());
    ForwardingBuilder::AddKey(key);
  }
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    keys_.push_back(key.ToString());
    keys_.push_back(alt.ToString());
    ForwardingBuilder::AddKeyAndAlt(key, alt);
  }
  using ForwardingBuilder::Finish;
  Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
    std::string block = ForwardingBuilder::Finish(buffer, status).ToString();
    fault_(&block, keys_);
    keys_.clear();
    auto* bytes = new char[block.size()];
    std::copy(block.begin(), block.end(), bytes);
    buffer->reset(bytes);
    return {bytes, block.size()};
  }

 private:
  Fault fault_;
  Keys keys_;
};

class FaultyPolicy : public ForwardingPolicy<rocksdb::FilterPolicy> {
 public:
  explicit FaultyPolicy(Fault fault)
      : ForwardingPolicy(NewPolicy(FilterKind::kClassic)), fault_(std::move(fault)) {}

  const char* Name() const override { return "faulty"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return new FaultyBuilder(ForwardingPolicy::GetBuilderWithContext(context), fault_);
  }

 private:
  Fault fault_;
};

bool Contains(const std::string& block, const std::string& key) {
  return BloomFilterView(block).MayContain(key);
}

void Forget(const std::string& forgotten, std::string* block, const Keys& keys) {
  if (std::find(keys.begin(), keys.end(), forgotten) == keys.end()) return;
  constexpr unsigned kByteBits = 8;
  for (std::size_t i = 0; i < (block->size() - filter::TrailerBytesOf(*block)) * kByteBits; ++i) {
    const char before = (*block)[i / kByteBits];
    (*block)[i / kByteBits] =
        static_cast<char>(static_cast<unsigned char>(before) & ~(1U << i % kByteBits));
    const bool only_it = !Contains(*block, forgotten) &&
                         std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
                           return key == forgotten || Contains(*block, key);
                         });
    if (only_it) return;
    (*block)[i / kByteBits] = before;
  }
  ADD_FAILURE() << forgotten << " shares all its bits";
}

}  // namespace

PolicyPointer PolicyThatForgets(const std::string& key) {
  return std::make_shared<FaultyPolicy>(
      [key](std::string* block, const Keys& keys) { Forget(key, block, keys); });
}

PolicyPointer PolicyThatPassesAll() {
  return std::make_shared<FaultyPolicy>([](std::string* block, const Keys& /*keys*/) {
    std::fill(block->begin(),
              block->end() - static_cast<std::ptrdiff_t>(filter::TrailerBytesOf(*block)), '\xff');
  });
}

}  // namespace exactbloom
