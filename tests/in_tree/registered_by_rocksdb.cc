// A program that names a policy and never mentions ExactBloom: RocksDB registers its plugins
// itself. It is linked with the list of plugins that RocksDB's build made, which replaces the empty
// one in the shared library.
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <cstdlib>
#include <iostream>
#include <memory>

int main() {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(
      rocksdb::ConfigOptions(), "classic_bloom:10", &policy);
  const bool right = status.ok() && policy != nullptr && policy->GetId() == "classic_bloom:10";
  std::cout << "classic_bloom:10 without registration: " << status.ToString() << std::endl;
  // Without destructors: the shared library would destroy the list a second time.
  std::_Exit(right ? 0 : 1);
}
