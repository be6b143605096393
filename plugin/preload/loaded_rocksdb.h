// Which RocksDB the process has, and whether it is the one that this object was made for. The code
// refers to the C library only, for it runs in every program that the object is preloaded into.
#pragma once

#include "preload_core.h"

namespace exactbloom::preload {

// Returns the core if the process has the RocksDB for it, and loads it at the first call. Null if
// there is no RocksDB so far, or the wrong one; that is said once on standard error.
//   brings_rocksdb  a core without RocksDB may load it
const Core* LoadedCore(bool brings_rocksdb = false);

// Why LoadedCore returned null, for a message.
const char* Refusal();

// Returns the definition that `caller`, an address in a program's code, would have reached without
// this object. `own` is this object's.
void* NextDefinition(void* own, void* caller);

// Returns the core if calls from `caller` to RocksDB's function `next` are to be answered with the
// policy of EXACTBLOOM_POLICY: it is set, and the function belongs to the core's RocksDB.
const Core* CoreForCall(void* next, void* caller);

}  // namespace exactbloom::preload
