// No exception leaves a function that RocksDB or a C program calls: it returns something else then.
// std::bad_alloc is the one to expect; others come from the standard library, or from what the
// program gave to RocksDB, such as its Logger.
#pragma once

#include <rocksdb/status.h>

#include <new>

#include "../src/analysis/requirements.h"
#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// Returns what `function` returns, or `instead` if it throws anything.
template <typename Value, typename Function>
Value ResultOr(Value instead, Function function) noexcept {
  try {
    return function();
  } catch (...) {
    return instead;
  }
}

// Returns the status that `function` returns; MemoryLimit if memory is short, and Aborted after
// another exception. These two have no text, and so take no memory.
template <typename Function>
rocksdb::Status StatusOf(Function function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  } catch (...) {
    return rocksdb::Status::Aborted();
  }
}

}  // namespace exactbloom
