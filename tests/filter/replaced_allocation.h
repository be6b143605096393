// Replaces the program's operators new and delete, also for shared libraries, by two functions that
// the one source that includes this defines.
#pragma once

#include <cstddef>
#include <new>

namespace exactbloom {

void* AllocateOrNull(std::size_t size);
void Free(void* memory) noexcept;

// Throws what the operators throw where there is no memory.
inline void (*throw_failure)() = [] { throw std::bad_alloc(); };

inline void* Allocate(std::size_t size) {
  void* memory = AllocateOrNull(size);
  if (memory == nullptr) throw_failure();
  return memory;
}

}  // namespace exactbloom

void* operator new(std::size_t size) { return exactbloom::Allocate(size); }
void* operator new[](std::size_t size) { return exactbloom::Allocate(size); }
// The sanitizers' own would not be freed by the operators below.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return exactbloom::AllocateOrNull(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return exactbloom::AllocateOrNull(size);
}
void operator delete(void* memory) noexcept { exactbloom::Free(memory); }
void operator delete[](void* memory) noexcept { exactbloom::Free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { exactbloom::Free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { exactbloom::Free(memory); }
