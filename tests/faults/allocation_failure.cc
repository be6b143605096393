#include "allocation_failure.h"

#include <cstdlib>

#include "tests/filter/replaced_allocation.h"

namespace exactbloom::faults {
namespace {

thread_local AllocationFailure* active = nullptr;

}  // namespace

AllocationFailure::Switch::Switch(AllocationFailure* failure) {
  active = failure;
  throw_failure = Throw;
}

AllocationFailure::Switch::~Switch() { active = nullptr; }

void AllocationFailure::Throw() {
  if (active != nullptr && active->thrown_ == Thrown::kOther) throw OtherException();
  throw std::bad_alloc();
}

bool AllocationFailure::Strikes() {
  if (active == nullptr) return false;
  const std::uint64_t count = ++active->count_;
  return count == active->number_ ||
         (count > active->number_ && active->shortage_ == Shortage::kAllThatFollow);
}

}  // namespace exactbloom::faults

namespace exactbloom {

void* AllocateOrNull(std::size_t size) {
  return faults::AllocationFailure::Strikes() ? nullptr : std::malloc(size);
}

void Free(void* memory) noexcept { std::free(memory); }

}  // namespace exactbloom
