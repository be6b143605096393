// Cuts the sorted runs of a tree like the user's into tables.
#pragma once

#include <rocksdb/sst_partitioner.h>

#include <memory>

#include "readamp/keys/key_set.h"

namespace exactbloom::readamp {

// Compactions to a level of one of the runs begin a new table at each of its cuts. The runs must
// outlive the result.
std::shared_ptr<rocksdb::SstPartitionerFactory> CutTables(const std::vector<KeySet::Run>& runs);

}  // namespace exactbloom::readamp
