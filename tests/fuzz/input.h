// How a fuzzer reads its input, and how it reports a wrong answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace exactbloom::fuzz {

// Takes values from the front of the input. Behind its end the values are zero.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }

  template <typename Number>
  Number Take() {
    Number number{};
    const std::string_view bytes = TakeBytes(sizeof number);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }

  // Fewer if the input ends.
  std::string_view TakeBytes(std::size_t count) {
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

  std::string_view TakeRest() { return TakeBytes(rest_.size()); }

 private:
  std::string_view rest_;
};

// Ends the process unless `holds`, which fails the run and keeps the input.
inline void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzzer: wrong: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace exactbloom::fuzz

// The entry point of a fuzzer: runs one input, and returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
