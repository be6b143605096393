// The shared object registers the policies when it is loaded, so that a program built without them
// finds them by name: LD_PRELOAD=libexactbloom_rocksdb.so db_bench --options_file=...
#include "exactbloom/filter_policy.h"

namespace {

struct RegisterAtLoad {
  RegisterAtLoad() { exactbloom::RegisterFilterPolicies(); }
};
const RegisterAtLoad register_at_load;

}  // namespace
