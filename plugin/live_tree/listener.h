// The listener that tells the registry what happens to trees.
#pragma once

#include <rocksdb/listener.h>

#include <memory>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom::tree {

//   warns_of_other_policies   whether the info log names families whose tables get filters that no
//                             policy of ExactBloom was asked for
std::unique_ptr<rocksdb::EventListener> MakeTreeListener(bool warns_of_other_policies = true);

}  // namespace exactbloom::tree
