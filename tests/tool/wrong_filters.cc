#include "wrong_filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "faulty_policy.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

using Keys = FaultyPolicy::Keys;

void Forget(const std::string& forgotten, char* block, std::size_t size, const Keys& keys) {
  if (std::find(keys.begin(), keys.end(), forgotten) == keys.end()) return;
  const FilterView view({block, size});
  const std::size_t array_bytes = size - filter::TrailerBytesOf({block, size});
  for (std::size_t bit = 0; bit < array_bytes * 8; ++bit) {
    char& byte = block[bit / 8];
    const char before = byte;
    byte = static_cast<char>(before & ~(1 << bit % 8));
    const bool only_it = !view.MayContain(forgotten) &&
                         std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
                           return key == forgotten || view.MayContain(key);
                         });
    if (only_it) return;
    byte = before;
  }
  ADD_FAILURE() << forgotten << " shares all its bits";
}

PolicyPointer WithFault(FaultyPolicy::Fault fault) {
  return std::make_shared<FaultyPolicy>(NewPolicy(BloomKind::kClassic), std::move(fault));
}

}  // namespace

PolicyPointer PolicyThatForgets(const std::string& key) {
  return WithFault(
      [key](char* block, std::size_t size, const Keys& keys) { Forget(key, block, size, keys); });
}

PolicyPointer PolicyThatPassesAll() {
  return WithFault([](char* block, std::size_t size, const Keys& /*keys*/) {
    std::fill_n(block, size - filter::TrailerBytesOf({block, size}), '\xff');
  });
}

PolicyPointer PolicyThatGivesUp(const std::string& key) {
  return WithFault([key](char* block, std::size_t size, const Keys& keys) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) std::fill_n(block, size, '\0');
  });
}

PolicyPointer PolicyThatDamagesRibbon(bool in_trailer) {
  constexpr double kBitsPerKey = 10.0;
  return std::make_shared<FaultyPolicy>(
      NewFilterPolicy(ExactRibbonOptions{kBitsPerKey}),
      [in_trailer](char* block, std::size_t size, const Keys& /*keys*/) {
        block[in_trailer ? size - filter::TrailerBytesOf({block, size}) : size / 2] ^= 1;
      });
}

PolicyPointer PolicyThatClaims(std::uint64_t keys) {
  return WithFault([keys](char* block, std::size_t size, const Keys& /*keys*/) {
    filter::BloomDescription claimed = filter::DecodeBloom({block, size}).description;
    claimed.keys = keys;
    claimed.bits = 8 * (size - filter::TrailerBytes(keys, claimed.hash_seed));
    std::fill_n(block, size, '\xff');
    filter::EncodeTrailer(claimed, reinterpret_cast<unsigned char*>(block));
  });
}

}  // namespace exactbloom
