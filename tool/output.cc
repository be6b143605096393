#include "output.h"

#include <fmt/format.h>

#include <filesystem>

#include "plugin/policy_options.h"

namespace exactbloom::tool {

std::string Describe(Layout layout) {
  const std::string kind = layout.kind == FilterKind::kClassic ? "classic" : "standard";
  return !layout.InLines() ? kind : fmt::format("{}, lines = {}", kind, layout.Lines());
}

std::string PolicyString(Layout layout, double bits_per_key) {
  PolicyOptions options = PlainPolicy(layout);
  options.bits_per_key = bits_per_key;
  return FormatPolicy(options);
}

std::string Counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string FormatRate(double rate) {
  constexpr double kLeastPercentage = 1e-4;
  return rate >= kLeastPercentage || rate == 0.0 ? fmt::format("{:.5g}%", 100.0 * rate)
                                                 : fmt::format("{:.4e}", rate);
}

std::string LevelName(int level) { return level < 0 ? "-" : fmt::format("{}", level); }

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void PrintJson(const nlohmann::json& document) { fmt::print("{}\n", document.dump(2)); }

}  // namespace exactbloom::tool
