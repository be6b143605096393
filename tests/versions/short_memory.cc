// A file of its own, so that no compiler looks through the operators and finds malloc behind new.
#include "short_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace exactbloom {

bool memory_is_short = false;

}  // namespace exactbloom

void* operator new(std::size_t size) {
  void* memory = exactbloom::memory_is_short ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
