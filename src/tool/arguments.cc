#include "arguments.h"

#include <fmt/format.h>

#include <cmath>

namespace exactbloom::tool {

void LayoutArguments::AddTo(CLI::App& command) {
  command.add_option("--kind", kind, "classic or standard")->capture_default_str();
  command
      .add_option("--lines", lines,
                  "0: bits anywhere; 1 or 2: in so many 64-byte lines of the filter")
      ->capture_default_str();
}

Layout LayoutArguments::Get() const {
  if (kind != "classic" && kind != "standard") {
    throw InvalidInput(fmt::format("--kind '{}': must be classic or standard", kind));
  }
  if (lines < 0 || lines > 2) {
    throw InvalidInput(fmt::format("--lines {}: must be 0, 1 or 2", lines));
  }
  return {kind == "classic" ? FilterKind::kClassic : FilterKind::kStandard, lines};
}

std::string RefuseNegative(const std::string& text) {
  return text.find('-') == std::string::npos ? "" : fmt::format("'{}' must not be negative", text);
}

std::string Shortest(double number, int digits) { return fmt::format("{:.{}g}", number, digits); }

std::string PolicyString(const LayoutArguments& layout, const std::string& option) {
  const std::string name = layout.kind + "_bloom";
  constexpr std::string_view kBitsPerKey = "bits_per_key=";
  if (layout.lines == 0 && option.compare(0, kBitsPerKey.size(), kBitsPerKey) == 0) {
    return name + ":" + option.substr(kBitsPerKey.size());
  }
  const std::string lines = layout.lines == 0 ? "" : fmt::format(";lines={}", layout.lines);
  return fmt::format("{{id={};{}{}}}", name, option, lines);
}

std::string BitsPerKeyText(double bits_per_key) {
  return Shortest(std::floor(bits_per_key * 1000.0 + 1e-6) / 1000.0, 7);
}

}  // namespace exactbloom::tool
