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

// The library's other forms call the one above, the sanitizers' do not.
void* operator new[](std::size_t size) { return operator new(size); }

void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size, std::nothrow);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
