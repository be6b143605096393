// A filter policy that is neither ExactBloom's nor RocksDB's, in a shared object to preload:
// RocksDB's Bloom filter under another name.
#include <rocksdb/filter_policy.h>
#include <rocksdb/utilities/object_registry.h>

#include <memory>
#include <string>

namespace {

using rocksdb::FilterPolicy;

class PeerPolicy : public FilterPolicy {
 public:
  const char* Name() const override { return "test_peer"; }
  const char* CompatibilityName() const override { return "test.Peer"; }

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return bloom_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return bloom_->GetFilterBitsReader(contents);
  }

 private:
  static constexpr double kBitsPerKey = 6.0;
  std::unique_ptr<const FilterPolicy> bloom_{rocksdb::NewBloomFilterPolicy(kBitsPerKey)};
};

struct RegisterAtLoad {
  RegisterAtLoad() {
    rocksdb::ObjectLibrary::Default()->AddFactory<const FilterPolicy>(
        "test_peer", [](const std::string& /*id*/, std::unique_ptr<const FilterPolicy>* guard,
                        std::string* /*error*/) {
          *guard = std::make_unique<PeerPolicy>();
          return guard->get();
        });
  }
};
const RegisterAtLoad register_at_load;

}  // namespace
