// Finds the RocksDB of the process, and loads the core if it is the version that this object was
// built for. This code runs in every program with the preloaded object, so it uses the C library
// only.
#pragma once

#include "rocksdb_headers.h"

// Includes others of RocksDB.
#include "preload_core.h"

namespace exactbloom::preload {

// Returns the core, which the first call loads, or null if no RocksDB is loaded yet or the core was
// refused. A refusal is reported once, on standard error.
//   brings_rocksdb  load the core, and RocksDB with it, if no RocksDB is loaded yet
const Core* LoadedCore(bool brings_rocksdb = false);

// Returns why LoadedCore(true) returned null.
const char* Refusal();

// Returns the definition of the function `own`, of this object, that a call from the address
// `caller` would reach without this object.
void* NextDefinition(void* own, void* caller);

// Returns the core if it answers calls from the address `caller` to RocksDB's function `next`:
// EXACTBLOOM_POLICY is set, and the function belongs to the core's RocksDB. Null otherwise.
const Core* CoreForCall(void* next, void* caller);

}  // namespace exactbloom::preload
