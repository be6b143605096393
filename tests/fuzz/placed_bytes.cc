#include "placed_bytes.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "input.h"

namespace exactbloom::fuzz {
namespace {

constexpr std::align_val_t kAlignment{kMaxShift + 1};

// The address sanitizer's granule: it cannot forbid part of one and allow the bytes behind it.
constexpr std::size_t kGranuleBytes = 8;

// kMaxBytes of pages between two inaccessible ones. Kept until the process ends.
unsigned char* GuardedPages() {
  static unsigned char* const pages = [] {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* mapped = mmap(nullptr, PlacedBytes::kMaxBytes + 2 * page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(mapped != MAP_FAILED, "no memory for guarded pages");
    auto* begin = static_cast<unsigned char*>(mapped) + page;
    Require(mprotect(begin, PlacedBytes::kMaxBytes, PROT_READ | PROT_WRITE) == 0,
            "guarded pages cannot be made writable");
    return begin;
  }();
  return pages;
}

}  // namespace

PlacedBytes::PlacedBytes(std::string_view bytes, Place place, std::size_t shift)
    : size_(bytes.size()) {
  if (place == Place::kAllocation) {
    allocation_.reset(static_cast<unsigned char*>(::operator new(shift + size_, kAlignment)));
    data_ = allocation_.get() + shift;
    ASAN_POISON_MEMORY_REGION(allocation_.get(), shift - shift % kGranuleBytes);
  } else {
    Require(size_ <= kMaxBytes, "too many bytes for the guarded pages");
    data_ = GuardedPages() + (place == Place::kPageEnd ? kMaxBytes - size_ : 0);
  }
  if (size_ != 0) std::memcpy(data_, bytes.data(), size_);
}

void PlacedBytes::Free::operator()(unsigned char* allocation) const {
  ASAN_UNPOISON_MEMORY_REGION(allocation, kMaxShift + 1);
  ::operator delete(allocation, kAlignment);
}

}  // namespace exactbloom::fuzz
