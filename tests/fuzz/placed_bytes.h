// Memory in which a fuzzer reads hostile bytes.
#pragma once

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "input.h"

namespace exactbloom::fuzz {

// Memory for hostile bytes that detects accesses outside them.
enum class Place : std::uint8_t {
  kAllocation,  // at any alignment, at the end of an allocation: for the address sanitizer
  kPageEnd,     // before a page that cannot be read: for gathers, which no sanitizer checks
  kPageBegin,   // behind one
};
inline constexpr int kPlaces = 3;

inline constexpr std::size_t kMaxShift = 63;

inline constexpr std::size_t kGuardedBytes = std::size_t{1} << 20;
inline constexpr std::align_val_t kAlignment{kMaxShift + 1};

// The address sanitizer's granule: it cannot forbid part of one and allow the bytes behind it.
inline constexpr std::size_t kGranuleBytes = 8;

// Pages between two inaccessible ones. Kept until the process ends.
inline unsigned char* GuardedPages() {
  static unsigned char* const pages = [] {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* mapped =
        mmap(nullptr, kGuardedBytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Require(mapped != MAP_FAILED, "no memory for guarded pages");
    auto* begin = static_cast<unsigned char*>(mapped) + page;
    Require(mprotect(begin, kGuardedBytes, PROT_READ | PROT_WRITE) == 0,
            "guarded pages cannot be made writable");
    return begin;
  }();
  return pages;
}

// A copy of `bytes` in its place.
class PlacedBytes {
 public:
  // One object at a time may be in each place of the pages.
  //   shift   how far from an alignment of kMaxShift + 1 bytes; for kAllocation only
  PlacedBytes(std::string_view bytes, Place place, std::size_t shift) : size_(bytes.size()) {
    if (place == Place::kAllocation) {
      allocation_.reset(static_cast<unsigned char*>(::operator new(shift + size_, kAlignment)));
      data_ = allocation_.get() + shift;
      ASAN_POISON_MEMORY_REGION(allocation_.get(), shift - shift % kGranuleBytes);
    } else {
      Require(size_ <= kGuardedBytes, "too many bytes for the guarded pages");
      data_ = GuardedPages() + (place == Place::kPageEnd ? kGuardedBytes - size_ : 0);
    }
    if (size_ != 0) std::memcpy(data_, bytes.data(), size_);
  }

  std::string_view bytes() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  struct Free {
    void operator()(unsigned char* allocation) const {
      ASAN_UNPOISON_MEMORY_REGION(allocation, kMaxShift + 1);
      ::operator delete(allocation, kAlignment);
    }
  };

  std::unique_ptr<unsigned char, Free> allocation_;
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace exactbloom::fuzz
