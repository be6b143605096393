#include "allocation_failure.h"

#include <cstdlib>
#include <new>

namespace exactbloom::faults {
namespace {

thread_local AllocationFailure* active = nullptr;

}  // namespace

AllocationFailure::Switch::Switch(AllocationFailure* failure) { active = failure; }

AllocationFailure::Switch::~Switch() { active = nullptr; }

bool AllocationFailure::Strikes() {
  if (active == nullptr) return false;
  const std::uint64_t count = ++active->count_;
  return count == active->number_ ||
         (count > active->number_ && active->shortage_ == Shortage::kAllThatFollow);
}

}  // namespace exactbloom::faults

void* operator new(std::size_t size) {
  void* memory = exactbloom::faults::AllocationFailure::Strikes() ? nullptr : std::malloc(size);
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
