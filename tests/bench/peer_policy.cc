// Filter policies that are neither ExactBloom's nor RocksDB's, in a shared object to preload:
// test_peer is RocksDB's Bloom filter under another name. The others have ExactBloom's blocks and
// wrong answers: test_misses misses all keys, test_differs the last key of a batch, and
// test_matches lets all keys pass.
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/utilities/object_registry.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "plugin/c_binding/forwarding_policy.h"
#include "plugin/filter_bits_interface.h"

namespace {

using rocksdb::FilterPolicy;

class WrongReader : public rocksdb::FilterBitsReader {
 public:
  explicit WrongReader(const std::string& policy)
      : answer_(policy != "test_misses"), last_of_batch_(policy == "test_matches") {}

  bool MayMatch(const rocksdb::Slice& /*key*/) override { return answer_; }
  void MayMatch(int count, rocksdb::Slice** /*keys*/, bool* may_match) override {
    std::fill_n(may_match, count - 1, answer_);
    may_match[count - 1] = last_of_batch_;
  }

 private:
  bool answer_;
  bool last_of_batch_;
};

class PeerPolicy : public exactbloom::ForwardingPolicy<FilterPolicy> {
 public:
  PeerPolicy(std::shared_ptr<const FilterPolicy> policy, std::string name)
      : ForwardingPolicy(std::move(policy)), name_(std::move(name)) {}

  const char* Name() const override { return name_.c_str(); }
  const char* CompatibilityName() const override { return "test.Peer"; }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    if (name_ != "test_peer") return new WrongReader(name_);
    return ForwardingPolicy::GetFilterBitsReader(contents);
  }

 private:
  std::string name_;
};

const FilterPolicy* MakePolicy(const std::string& name, std::unique_ptr<const FilterPolicy>* guard,
                               std::string* /*error*/) {
  std::shared_ptr<const FilterPolicy> policy;
  const char* forwarded = name == "test_peer" ? "bloomfilter:6" : "classic_bloom:10";
  if (!FilterPolicy::CreateFromString({}, forwarded, &policy).ok()) return nullptr;
  *guard = std::make_unique<PeerPolicy>(policy, name);
  return guard->get();
}

struct RegisterAtLoad {
  RegisterAtLoad() {
    for (const auto* name : {"test_peer", "test_misses", "test_differs", "test_matches"}) {
      rocksdb::ObjectLibrary::Default()->AddFactory<const FilterPolicy>(name, MakePolicy);
    }
  }
};
const RegisterAtLoad register_at_load;

}  // namespace
