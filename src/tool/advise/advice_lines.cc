// The lines of an advice that are to be pasted.
#include <fmt/format.h>

#include "advice.h"
#include "plugin/policy_options.h"

namespace exactbloom::tool {

std::string OptionsLines(const FamilyAdvice& family) {
  return fmt::format("[TableOptions/BlockBasedTable \"{}\"]\n  filter_policy={}\n",
                     family.tree.column_family, family.candidates[family.best].policy);
}

std::string CodeLines(const FamilyAdvice& family) {
  const BloomFilterPolicyOptions& options = family.candidates[family.best].options;
  std::string lines = "exactbloom::BloomFilterPolicyOptions options;\n";
  const auto set = [&lines](const std::string& name, const std::string& value) {
    lines += fmt::format("options.{} = {};\n", name, value);
  };
  if (options.fpr != 0.0) {
    set("fpr", FormatNumber(options.fpr));
  } else if (options.level_bits.empty()) {
    set("bits_per_key", FormatNumber(options.bits_per_key));
  } else {
    std::string bits;
    for (const double level : options.level_bits) {
      bits += (bits.empty() ? "" : ", ") + FormatNumber(level);
    }
    set("level_bits", "{" + bits + "}");
  }
  if (options.lines != 0) set("lines", fmt::format("{}", options.lines));
  if (options.size_ratio != 0.0) set("size_ratio", FormatNumber(options.size_ratio));
  if (options.bottommost == BottommostFilter::kRibbon) {
    set("bottommost", "exactbloom::BottommostFilter::kRibbon");
  }
  return lines +
         "table_options.filter_policy.reset(exactbloom::NewClassicBloomFilterPolicy(options));\n";
}

std::string RebuildCommand(const Advice& advice, const FamilyAdvice& family) {
  if (advice.families.size() > 1) return fmt::format("exactbloom rebuild {}", advice.database);
  return fmt::format("exactbloom rebuild --policy '{}' {}", family.candidates[family.best].policy,
                     advice.database);
}

}  // namespace exactbloom::tool
