// No exception of ours enters RocksDB or a C program: what they call returns something else then.
#pragma once

#include <new>

namespace exactbloom {

// Returns what `function` returns, or `out_of_memory` if memory is short.
template <typename Value, typename Function>
Value ResultOr(Value out_of_memory, Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  }
}

}  // namespace exactbloom
