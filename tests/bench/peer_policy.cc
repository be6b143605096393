// Filter policies that are neither ExactBloom's nor RocksDB's, in a shared object to preload:
// test_peer is RocksDB's Bloom filter under another name, test_misses one that misses all keys.
#include <rocksdb/filter_policy.h>
#include <rocksdb/utilities/object_registry.h>

#include <memory>
#include <string>

#include "plugin/c_binding/forwarding_policy.h"
#include "plugin/filter_bits_interface.h"

namespace {

using rocksdb::FilterPolicy;

class Misses : public rocksdb::FilterBitsReader {
 public:
  bool MayMatch(const rocksdb::Slice& /*key*/) override { return false; }
};

class PeerPolicy : public exactbloom::ForwardingPolicy<FilterPolicy> {
 public:
  explicit PeerPolicy(bool misses)
      : ForwardingPolicy(std::shared_ptr<const FilterPolicy>(rocksdb::NewBloomFilterPolicy(6))),
        misses_(misses) {}

  const char* Name() const override { return misses_ ? "test_misses" : "test_peer"; }
  const char* CompatibilityName() const override { return "test.Peer"; }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    if (misses_) return new Misses;
    return ForwardingPolicy::GetFilterBitsReader(contents);
  }

 private:
  bool misses_;
};

struct RegisterAtLoad {
  RegisterAtLoad() {
    for (const bool misses : {false, true}) {
      rocksdb::ObjectLibrary::Default()->AddFactory<const FilterPolicy>(
          misses ? "test_misses" : "test_peer",
          [misses](const std::string& /*id*/, std::unique_ptr<const FilterPolicy>* guard,
                   std::string* /*error*/) {
            *guard = std::make_unique<PeerPolicy>(misses);
            return guard->get();
          });
    }
  }
};
const RegisterAtLoad register_at_load;

}  // namespace
