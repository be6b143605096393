// Whether a database's filter policy is one of ExactBloom's.
#pragma once

#include <rocksdb/filter_policy.h>

#include "plugin/bloom_filter_policy.h"

namespace exactbloom::support {

// Null for another policy, and for none. Only the programs may use it: the plugin is compiled
// without RTTI.
inline const BloomFilterPolicy* OwnPolicy(const rocksdb::FilterPolicy* policy) {
  return dynamic_cast<const BloomFilterPolicy*>(policy);
}

}  // namespace exactbloom::support
