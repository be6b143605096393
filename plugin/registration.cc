#include <rocksdb/filter_policy.h>
#include <rocksdb/utilities/object_registry.h>

#include <atomic>
#include <memory>
#include <string>

#include "bloom_filter_policy.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "exception_barrier.h"
#include "live_tree/listener.h"
#include "object_factory.h"

// Adds the policies to `library` and returns how many factories were added. RocksDB calls it by
// this name, outside any namespace and declared as C, when ExactBloom is built into it as a plugin.
extern "C" int RegisterExactBloom(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                  const std::string& argument);

namespace exactbloom {
namespace {

using rocksdb::FilterPolicy;
using rocksdb::ObjectLibrary;

void AddPolicy(ObjectLibrary& library, PolicyKind kind) {
  // Any text behind the colon is accepted here, so that a bad number gets ExactBloom's error and
  // not "unknown policy".
  const auto pattern =
      ObjectLibrary::PatternEntry(PolicyName(kind), true).AddSeparator(":", /*at_least_one=*/false);
  // A bad number makes a policy that reports it, because RocksDB would drop the error of a factory.
  AddFactory<const FilterPolicy>(library, pattern, [](const std::string& id) {
    PolicyOptions options;
    const rocksdb::Status status = ParsePolicyId(id, &options);
    return std::unique_ptr<const FilterPolicy>(new BloomFilterPolicy(options, status));
  });
}

// RocksDB 7.8 writes several listeners in braces, {exactbloom_tree:A}, and reads these as one name.
// So the name may go on: then the database has this listener, and lacks the others.
void AddListener(ObjectLibrary& library) {
  const auto pattern = ObjectLibrary::PatternEntry(kTreeListenerName, true).AddSeparator(":");
  AddFactory<rocksdb::EventListener>(library, pattern,
                                     [](const std::string&) { return tree::MakeTreeListener(); });
}

int AddAll(ObjectLibrary& library) {
  for (const auto kind : kPolicyKinds) AddPolicy(library, kind);
  AddListener(library);
  return kPolicyKinds.size() + 1;
}

}  // namespace

// Two threads at once may both add the factories, of which RocksDB takes the first: no lock is held
// over its calls. After an exception the next call tries again.
void RegisterFilterPolicies() {
  static std::atomic<bool> is_done{false};
  if (is_done) return;
  AddAll(*ObjectLibrary::Default());
  is_done = true;
}

}  // namespace exactbloom

int RegisterExactBloom(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& /*argument*/) {
  return exactbloom::ResultOr(0, [&] { return exactbloom::AddAll(library); });
}
