#include <rocksdb/filter_policy.h>
#include <rocksdb/utilities/object_registry.h>

#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "bloom_filter_policy.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "tree/current_table.h"

// Adds the policies to `library` and returns how many factories were added. RocksDB calls it by
// this name, outside any namespace and declared as C, when ExactBloom is built into it as a plugin.
extern "C" int RegisterExactBloom(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                  const std::string& argument);

namespace exactbloom {
namespace {

using rocksdb::FilterPolicy;
using rocksdb::ObjectLibrary;

// Makes a policy from the text that the pattern matched: the name alone, or what GetId returned. A
// bad number makes a policy that reports it, because RocksDB would drop the error of a factory.
// Throws std::bad_alloc.
const FilterPolicy* Create(PolicyKind kind, const std::string& id,
                           std::unique_ptr<const FilterPolicy>* guard) {
  PolicyOptions options(kind);
  rocksdb::Status status;
  const std::size_t colon = id.find(':');
  if (colon != std::string::npos) {
    status = ParsePolicyId(id.substr(colon + 1), &options);
  }
  guard->reset(new BloomFilterPolicy(options, status));
  return guard->get();
}

void AddPolicy(ObjectLibrary& library, PolicyKind kind) {
  // Any text behind the colon is accepted here, so that a bad number gets ExactBloom's error and
  // not "unknown policy".
  const auto pattern =
      ObjectLibrary::PatternEntry(PolicyName(kind), true).AddSeparator(":", /*at_least_one=*/false);
  library.AddFactory<const FilterPolicy>(
      pattern,
      [kind](const std::string& id, std::unique_ptr<const FilterPolicy>* guard,
             std::string* error) -> const FilterPolicy* {
        try {
          return Create(kind, id, guard);
        } catch (const std::bad_alloc&) {
          *error = "out of memory";
          return nullptr;
        }
      });
}

void AddListener(ObjectLibrary& library) {
  library.AddFactory<rocksdb::EventListener>(
      tree::kTreeListenerName,
      [](const std::string& /*id*/, std::unique_ptr<rocksdb::EventListener>* guard,
         std::string* error) -> rocksdb::EventListener* {
        try {
          *guard = tree::MakeTreeListener();
          return guard->get();
        } catch (const std::bad_alloc&) {
          *error = "out of memory";
          return nullptr;
        }
      });
}

}  // namespace

void RegisterFilterPolicies() {
  static std::once_flag once;
  std::call_once(once, [] { RegisterExactBloom(*ObjectLibrary::Default(), ""); });
}

}  // namespace exactbloom

int RegisterExactBloom(ROCKSDB_NAMESPACE::ObjectLibrary& library, const std::string& /*argument*/) {
  for (const auto kind : exactbloom::kPolicyKinds) exactbloom::AddPolicy(library, kind);
  exactbloom::AddListener(library);
  return exactbloom::kPolicyKinds.size() + 1;
}
