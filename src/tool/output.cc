#include "output.h"

#include <fmt/format.h>

#include <cmath>

namespace exactbloom::tool {

std::string Describe(Layout layout) {
  const std::string kind = layout.kind == FilterKind::kClassic ? "classic" : "standard";
  return !layout.InLines() ? kind : fmt::format("{}, lines = {}", kind, layout.Lines());
}

const char* PolicyId(FilterKind kind) {
  return kind == FilterKind::kClassic ? "classic_bloom" : "standard_bloom";
}

std::string PolicyString(Layout layout, double bits_per_key) {
  const char* id = PolicyId(layout.kind);
  if (!layout.InLines()) return fmt::format("{}:{:g}", id, bits_per_key);
  return fmt::format("{{id={};bits_per_key={:g};lines={}}}", id, bits_per_key, layout.Lines());
}

std::string FormatRate(double rate) {
  constexpr double kLeastPercentage = 1e-4;
  return rate >= kLeastPercentage || rate == 0.0 ? fmt::format("{:.5g}%", 100.0 * rate)
                                                 : fmt::format("{:.4e}", rate);
}

nlohmann::json Number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

void PrintJson(const nlohmann::json& document) { fmt::print("{}\n", document.dump(2)); }

}  // namespace exactbloom::tool
