// How RocksDB learns the policies' names.
#pragma once

#include <rocksdb/utilities/object_registry.h>

#include <string>

// Adds the policies to `library` and returns how many factories were added. RocksDB calls it by
// this name, outside any namespace and declared as C, when ExactBloom is built into it as a plugin.
extern "C" int RegisterExactBloom(rocksdb::ObjectLibrary& library, const std::string& argument);
