#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "../bloom_filter_policy.h"
#include "../policy_options.h"
#include "c_policy.h"
#include "c_types.h"
#include "exactbloom/c.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "exactbloom/version.h"

namespace {

// As RocksDB's C layer does it. Where memory is too short for the text, *errptr would be null,
// which says that there was no error; callers check the result as well.
void HandOut(const char* error, char** errptr) {
  std::free(*errptr);
  *errptr = strdup(error);
}

// Runs `make`, which returns a status, and hands out its error.
template <typename Make>
void Report(char** errptr, const Make& make) {
  try {
    const rocksdb::Status status = make();
    if (!status.ok()) HandOut(status.ToString().c_str(), errptr);
  } catch (const std::bad_alloc&) {
    HandOut("exactbloom: out of memory", errptr);
  }
}

}  // namespace

const char* exactbloom_version() { return EXACTBLOOM_VERSION; }

// Names that stay unknown for want of memory are refused by RocksDB when they are read.
void exactbloom_register() {
  try {
    exactbloom::RegisterFilterPolicies();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
  }
}

rocksdb_filterpolicy_t* exactbloom_filterpolicy_create(const char* policy, char** errptr) {
  rocksdb_filterpolicy_t* made = nullptr;
  Report(errptr, [&] {
    exactbloom::NamedPolicy named;
    rocksdb::Status status = exactbloom::ParsePolicy(policy, &named);
    if (status.ok()) {
      made = exactbloom::NewCPolicy(
          std::make_shared<exactbloom::BloomFilterPolicy>(named.kind, named.options));
    }
    return status;
  });
  return made;
}

void exactbloom_options_add_tree_listener(rocksdb_options_t* options, char** errptr) {
  Report(errptr, [&] {
    options->rep.listeners.push_back(exactbloom::NewTreeListener());
    return rocksdb::Status::OK();
  });
}
