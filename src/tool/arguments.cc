#include "arguments.h"

#include <fmt/format.h>

#include <cmath>

namespace exactbloom::tool {
namespace {

// Up to here every whole number is a double, and every function of the analysis takes it.
constexpr double kLargestCount = 9007199254740992.0;

}  // namespace

CLI::Validator WholeNumber() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0.0;
        const bool number = CLI::detail::lexical_cast(text, value) && value >= 0.0 &&
                            value <= kLargestCount && value == std::floor(value);
        if (!number) {
          return fmt::format("'{}' is not a whole number from 0 to {:.0f}", text, kLargestCount);
        }
        text = fmt::format("{:.0f}", value);
        return "";
      },
      "");
}

void AddLayout(CLI::App& app, Layout& layout) {
  app.add_option_function<std::string>(
         "--kind",
         [&layout](const std::string& name) {
           layout.kind = name == "standard" ? FilterKind::kStandard : FilterKind::kClassic;
         },
         "classic: k distinct bits a key; standard: k independent bits")
      ->check(CLI::IsMember({"classic", "standard"}))
      ->type_name("KIND")
      ->default_str("classic");
  app.add_option(
         "--lines", layout.lines,
         "Cache lines that hold a key's bits: 0, anywhere in the filter; 1; or 2 of one page")
      ->check(CLI::IsMember({0, 1, 2}))
      ->type_name("NUMBER")
      ->capture_default_str();
}

void AddDatabase(CLI::App& app, std::vector<std::string>& paths) {
  app.add_option("PATH", paths, "A database's directory, or table files (.sst)")
      ->required()
      ->type_name("");
}

CLI::Option* AddCount(CLI::App& app, const std::string& name, std::uint64_t& value,
                      const std::string& description) {
  return app.add_option(name, value, description)->transform(WholeNumber())->type_name("NUMBER");
}

}  // namespace exactbloom::tool
