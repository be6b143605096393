// Memory for hostile bytes that detects accesses outside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace exactbloom::fuzz {

enum class Place : std::uint8_t {
  kAllocation,  // at any alignment, at the end of an allocation: for the address sanitizer
  kPageEnd,     // before a page that cannot be read: for gathers, which no sanitizer checks
  kPageBegin,   // behind one
};
inline constexpr int kPlaces = 3;

inline constexpr std::size_t kMaxShift = 63;

// A copy of `bytes` in its place.
class PlacedBytes {
 public:
  // Pages hold at most this many bytes. One object at a time may be in each place of them.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  //   shift   how far from an alignment of kMaxShift + 1 bytes; for kAllocation only
  PlacedBytes(std::string_view bytes, Place place, std::size_t shift);

  unsigned char* data() const { return data_; }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  struct Free {
    void operator()(unsigned char* allocation) const;
  };

  std::unique_ptr<unsigned char, Free> allocation_;
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace exactbloom::fuzz
