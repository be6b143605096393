#include "equal_bytes.h"

#include <fmt/format.h>

#include "equal_memory.h"
#include "readamp/tree/database.h"

namespace exactbloom::readamp {

std::string WithEqualBytes(const std::string& policy, std::uint64_t keys, double bits_per_key) {
  const std::size_t at = policy.find(kEqualBytes);
  if (at == std::string::npos) return policy;
  const auto with = [&](double setting) {
    std::string text = policy;
    return text.replace(at, sizeof(kEqualBytes) - 1, fmt::format("{:.6g}", setting));
  };
  return with(SettingOfEqualMemory([&](double setting) { return MakePolicy(with(setting)); }, keys,
                                   bits_per_key));
}

}  // namespace exactbloom::readamp
