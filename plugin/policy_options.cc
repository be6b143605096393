#include "policy_options.h"

#include <rocksdb/convenience.h>
#include <rocksdb/customizable.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>
#include <string_view>

#include "exactbloom/filter.h"
#include "process_memory.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

constexpr std::string_view kLevelBits = "level_bits";
constexpr char kRocksDBsOwn[] =
    "; RocksDB's own policies are set without ExactBloom, as by NewBloomFilterPolicy "
    "(docs/operations.md, Switching off)";

// The whole text must be one number, in C's notation whatever the process's locale is.
template <typename Number>
bool ReadNumber(const std::string& text, Number* value) {
  // A stream would accept a negative number and wrap it around.
  if (std::is_unsigned_v<Number> && text.find('-') != std::string::npos) return false;
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  in >> std::noskipws >> *value;
  return !in.fail() && in.peek() == std::istringstream::traits_type::eof();
}

bool IsBitsPerKey(double value) { return value >= 0.0 && value <= kMaxBitsPerKey; }

// Units of bytes, all powers of 1024, as RocksDB's own options have them: G, GB and GiB, in
// capitals or not.
constexpr std::string_view kUnits = "KMGT";
constexpr int kUnitShift = 10;

bool ReadBytes(const std::string& text, std::uint64_t* value) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<int> shift = ShiftOfUnit(text.substr(digits));
  if (!shift || !ReadNumber(text.substr(0, digits), value)) return false;
  if (*value > std::numeric_limits<std::uint64_t>::max() >> *shift) return false;
  *value <<= *shift;
  return true;
}

// Bytes, or a part of the memory that the process may use: `2GiB` or `10%`.
bool ReadBudget(const std::string& text, PolicyOptions* options) {
  options->memory_budget = 0;
  options->memory_percent = 0.0;
  if (text.empty() || text.back() != '%') return ReadBytes(text, &options->memory_budget);
  return ReadNumber(text.substr(0, text.size() - 1), &options->memory_percent);
}

// A size is no name, lest budget=2GiB be taken for a bound.
bool IsBudgetName(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
  std::uint64_t size = 0;
  return name.size() <= kLongest && name.find_first_not_of(kLetters) == std::string::npos &&
         (name.empty() || !ReadBytes(name, &size));
}

// In the largest unit that gives a whole number.
std::string FormatBytes(std::uint64_t value) {
  std::string unit;
  for (const char larger : kUnits) {
    if (value == 0 || value % (1U << kUnitShift) != 0) break;
    value >>= kUnitShift;
    unit = larger;
  }
  return std::to_string(value) + unit;
}

bool ReadTruth(const std::string& text, bool* value) {
  *value = text == "true";
  return *value || text == "false";
}

// The policies that have an option: all, those with filters of ours, exactbloom, or the plain ones.
enum class Having : std::uint8_t { kAll, kOwnFilters, kExactBloom, kPlain };

// One option: how its text is read and written, and its range.
struct Rule {
  const char* name;
  Having policies;
  std::string (*range)();
  bool (*read)(const std::string& text, PolicyOptions* options);  // false: not a value of its type
  bool (*is_valid)(const PolicyOptions& options);
  std::string (*format)(const PolicyOptions& options);

  bool IsOf(PolicyKind kind) const {
    const bool has_own_filters = HasOwnFilters(kind);
    const bool is_divided = kind == PolicyKind::kExactBloom;
    return policies == Having::kAll || (policies == Having::kOwnFilters && has_own_filters) ||
           (policies == Having::kExactBloom && is_divided) ||
           (policies == Having::kPlain && has_own_filters && !is_divided);
  }
};

constexpr std::array<Rule, 7> kRules = {{
    {"bits_per_key", Having::kAll,
     [] { return "a number from 0 to " + FormatNumber(kMaxBitsPerKey); },
     [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->bits_per_key); },
     [](const PolicyOptions& o) { return IsBitsPerKey(o.bits_per_key); },
     [](const PolicyOptions& o) { return FormatNumber(o.bits_per_key); }},
    {"memory_budget", Having::kExactBloom,
     []() -> std::string {
       return "a whole number of bytes, below 2^53, to which K, M, G or T may be added, or a "
              "percentage of the memory that the process may use, up to 100%";
     },
     [](const std::string& text, PolicyOptions* o) { return ReadBudget(text, o); },
     [](const PolicyOptions& o) {
       return o.memory_budget < std::uint64_t{1} << 53 && o.memory_percent >= 0.0 &&
              o.memory_percent <= 100.0;
     },
     [](const PolicyOptions& o) {
       return o.memory_percent == 0.0 ? FormatBytes(o.memory_budget)
                                      : FormatNumber(o.memory_percent) + "%";
     }},
    {"budget", Having::kExactBloom,
     []() -> std::string {
       return "a name of up to 64 letters, digits, underscores, hyphens and points, and no size "
              "such as 2GiB, which memory_budget takes";
     },
     [](const std::string& text, PolicyOptions* o) {
       o->budget = text;
       return true;
     },
     [](const PolicyOptions& o) { return IsBudgetName(o.budget); },
     [](const PolicyOptions& o) { return o.budget; }},
    {"covers", Having::kExactBloom,
     []() -> std::string {
       return "filters or filters_and_indexes, and may only be set with memory_budget";
     },
     [](const std::string& text, PolicyOptions* o) {
       const std::optional<BudgetCovers> covers = ReadCovers(text);
       o->covers = covers.value_or(BudgetCovers::kFilters);
       return covers.has_value();
     },
     [](const PolicyOptions& o) {
       return o.covers == BudgetCovers::kFilters || o.memory_budget != 0 || o.memory_percent != 0.0;
     },
     [](const PolicyOptions& o) { return FormatCovers(o.covers); }},
    {"ribbon", Having::kExactBloom, []() -> std::string { return "true or false"; },
     [](const std::string& text, PolicyOptions* o) { return ReadTruth(text, &o->ribbon); },
     [](const PolicyOptions&) { return true; },
     [](const PolicyOptions& o) -> std::string { return o.ribbon ? "true" : "false"; }},
    {"fpr", Having::kPlain,
     [] {
       return "0 or a number from " + FormatNumber(kMinTargetRate) + " to " +
              FormatNumber(kMaxTargetRate);
     },
     [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->fpr); },
     [](const PolicyOptions& o) {
       return o.fpr == 0.0 || (o.fpr >= kMinTargetRate && o.fpr <= kMaxTargetRate);
     },
     [](const PolicyOptions& o) { return FormatNumber(o.fpr); }},
    {"hash_seed", Having::kOwnFilters,
     [] {
       return "a whole number from 0 to " +
              std::to_string(std::numeric_limits<std::uint64_t>::max());
     },
     [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->hash_seed); },
     [](const PolicyOptions&) { return true; },
     [](const PolicyOptions& o) { return std::to_string(o.hash_seed); }},
}};

std::string JoinedOptions(PolicyKind kind) {
  std::string joined;
  for (const std::string& name : OptionNames(kind))
    joined.append(joined.empty() ? "" : ", ").append(name);
  return joined;
}

Status RefuseOption(PolicyKind kind, const std::string& option, const std::string& value) {
  std::string message = "exactbloom: ";
  message.append(PolicyName(kind)).append(" has no option '").append(option);
  message.append("' for the value '").append(value).append("'; its options are ");
  message += JoinedOptions(kind);
  const PolicyKind other =
      kind == PolicyKind::kExactBloom ? PolicyKind::kClassicBloom : PolicyKind::kExactBloom;
  message.append("; those of ").append(PolicyName(other)).append(" are ");
  return Status::InvalidArgument(message + JoinedOptions(other));
}

// Nobody who divided the memory by level shall get equal filters in silence, so this option is
// refused even where unknown ones are ignored.
Status RefuseLevelBits(const std::string& value) {
  return Status::InvalidArgument(
      "exactbloom: level_bits is '" + value +
      "', but this option has been removed: exactbloom:10 divides the bits among the levels by "
      "itself, with a tree listener; without one, use exact_ribbon:10");
}

Status Refuse(const Rule& rule, const std::string& value) {
  return Status::InvalidArgument("exactbloom: " + std::string(rule.name) + " is '" + value +
                                 "', but must be " + rule.range());
}

// Changes the options only if the value is valid.
Status Parse(const Rule& rule, const std::string& text, PolicyOptions* options) {
  PolicyOptions changed = *options;
  if (!rule.read(text, &changed) || !rule.is_valid(changed)) return Refuse(rule, text);
  *options = changed;
  return Status::OK();
}

// Null if no policy has such an option.
const Rule* FindRule(std::string_view name) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(),
                                 [&](const Rule& known) { return known.name == name; });
  return rule == kRules.end() ? nullptr : &*rule;
}

const Rule& RuleOf(std::string_view name) { return *FindRule(name); }

// Whether the text of a policy has the option: if its value is not the default, and bits_per_key
// unless others replace it.
bool IsNamed(const Rule& rule, const PolicyOptions& options) {
  return &rule == &RuleOf("bits_per_key") ? !HasRate(options)
                                          : rule.format(options) != rule.format(PolicyOptions());
}

// Whether bits_per_key is the only option that the text has.
bool IsOfBitsAlone(const PolicyOptions& options) {
  return std::count_if(kRules.begin(), kRules.end(),
                       [&](const Rule& rule) { return IsNamed(rule, options); }) == 1 &&
         !HasRate(options);
}

Status Take(const std::string& text, PolicyOptions* options) { return ParsePolicy(text, options); }

Status Take(const ExactBloomOptions& settings, PolicyOptions* options) {
  *options = PolicyKind::kExactBloom;
  options->bits_per_key = settings.bits_per_key;
  options->budget = settings.budget;
  options->covers = settings.covers;
  options->ribbon = settings.ribbon;
  options->hash_seed = settings.hash_seed;
  Status status = Parse(RuleOf("memory_budget"), settings.memory_budget.text(), options);
  return status.ok() ? ValidatePolicyOptions(*options) : status;
}

template <typename Settings>
Status TakePlain(PolicyKind kind, const Settings& settings, PolicyOptions* options) {
  *options = kind;
  options->bits_per_key = settings.bits_per_key;
  options->fpr = settings.fpr;
  options->hash_seed = settings.hash_seed;
  return ValidatePolicyOptions(*options);
}

Status Take(const ExactRibbonOptions& settings, PolicyOptions* options) {
  return TakePlain(PolicyKind::kExactRibbon, settings, options);
}

Status Take(const ClassicBloomOptions& settings, PolicyOptions* options) {
  return TakePlain(PolicyKind::kClassicBloom, settings, options);
}

Status Take(const StandardBloomOptions& settings, PolicyOptions* options) {
  return TakePlain(PolicyKind::kStandardBloom, settings, options);
}

}  // namespace

std::string FormatNumber(double value) {
  constexpr int kUsualDigits = 6;  // fewer would write 10 as 1e+01
  for (int digits = kUsualDigits;; ++digits) {
    std::ostringstream out;
    out.exceptions(std::ios_base::badbit);  // else the text lacks what there was no memory for
    out.imbue(std::locale::classic());
    out.precision(digits);
    out << value;
    double read_back = 0.0;
    const bool same = ReadNumber(out.str(), &read_back) && read_back == value;
    if (same || digits == std::numeric_limits<double>::max_digits10) return out.str();
  }
}

std::optional<int> ShiftOfUnit(std::string_view text) {
  if (text.empty()) return 0;
  std::string capitals;
  for (const char c : text) {
    capitals += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  const std::size_t unit = kUnits.find(capitals[0]);
  const std::string rest = capitals.substr(1);
  const bool is_unit =
      unit != std::string_view::npos && (rest.empty() || rest == "B" || rest == "IB");
  if (!is_unit) return std::nullopt;
  return (static_cast<int>(unit) + 1) * kUnitShift;
}

std::vector<std::string> OptionNames(PolicyKind kind) {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) {
    if (rule.IsOf(kind)) names.emplace_back(rule.name);
  }
  return names;
}

Status ParsePolicyId(const std::string& id, PolicyOptions* options) {
  const std::size_t colon = std::min(id.find(':'), id.size());
  const std::string name = id.substr(0, colon);
  const auto kind = std::find_if(kPolicyKinds.begin(), kPolicyKinds.end(),
                                 [&](PolicyKind known) { return name == PolicyName(known); });
  if (kind == kPolicyKinds.end()) {
    const bool is_rocksdbs = name == "bloomfilter" || name == "ribbonfilter";
    return Status::InvalidArgument("exactbloom: the filter policy is '" + name +
                                   "', but must be exactbloom, exact_ribbon, classic_bloom, "
                                   "standard_bloom or rocksdb_bloom" +
                                   (is_rocksdbs ? kRocksDBsOwn : ""));
  }
  *options = PolicyOptions(*kind);
  if (colon == id.size()) return Status::OK();
  std::string bits = id.substr(colon + 1);
  const std::size_t suffix = std::min(bits.find(':'), bits.size());
  bool means_nothing = false;
  if (suffix != bits.size() && ReadTruth(bits.substr(suffix + 1), &means_nothing)) {
    bits.resize(suffix);
  }
  return Parse(RuleOf("bits_per_key"), bits, options);
}

Status ValidatePolicyOptions(const PolicyOptions& options) {
  for (const Rule& rule : kRules) {
    if (!rule.is_valid(options)) return Refuse(rule, rule.format(options));
  }
  return Status::OK();
}

bool MakesNoFilters(const PolicyOptions& options) {
  // RocksDB makes none of fewer bits.
  const double fewest = HasOwnFilters(options) ? 0.0 : kMinBitsPerKey;
  return !HasRate(options) && (options.bits_per_key == 0.0 || options.bits_per_key < fewest);
}

FilterOptions ToFilterOptions(const PolicyOptions& options) {
  FilterOptions filter;
  if (!HasRibbon(options)) {
    filter.kind = options.kind == PolicyKind::kStandardBloom ? FilterKind::kStandardBloom
                                                             : FilterKind::kClassicBloom;
  }
  filter.bits_per_key = options.bits_per_key;
  filter.false_positive_rate = options.fpr;
  filter.hash_seed = options.hash_seed;
  return filter;
}

std::uint64_t BytesOfBudget(const PolicyOptions& options) {
  if (options.memory_percent == 0.0) return options.memory_budget;
  return static_cast<std::uint64_t>(options.memory_percent / 100.0 *
                                    static_cast<double>(MemoryOfProcess()));
}

std::string FormatCovers(BudgetCovers covers) {
  return covers == BudgetCovers::kFilters ? "filters" : "filters_and_indexes";
}

std::optional<BudgetCovers> ReadCovers(const std::string& text) {
  for (const BudgetCovers covers : {BudgetCovers::kFilters, BudgetCovers::kFiltersAndIndexes}) {
    if (text == FormatCovers(covers)) return covers;
  }
  return std::nullopt;
}

Status ParseBudget(const std::string& name, const std::string& size, PolicyOptions* options) {
  *options = PolicyKind::kExactBloom;
  return ParsePolicyFields({{"budget", name}, {"memory_budget", size}}, options);
}

Status ParsePolicyFields(const std::unordered_map<std::string, std::string>& values,
                         PolicyOptions* options, bool ignores_unknown) {
  const auto level_bits = values.find(std::string(kLevelBits));
  if (level_bits != values.end()) return RefuseLevelBits(level_bits->second);
  const auto has = [&](const Rule& rule) { return rule.IsOf(options->kind); };
  for (const auto& [name, value] : values) {
    const Rule* rule = FindRule(name);
    const bool is_known = rule != nullptr && has(*rule);
    if (!is_known && !ignores_unknown) return RefuseOption(options->kind, name, value);
  }
  // In the order of the rules, since `covers` needs the budget, and the map has an order of its
  // own.
  for (const Rule& rule : kRules) {
    const auto value = values.find(std::string(rule.name));
    if (value == values.end() || !has(rule)) continue;
    Status status = Parse(rule, value->second, options);
    if (!status.ok()) return status;
  }
  const auto bits = values.find("bits_per_key");
  if (bits != values.end() && HasRate(*options)) {
    return Status::InvalidArgument("exactbloom: bits_per_key '" + bits->second +
                                   "' has no effect beside fpr '" + RuleOf("fpr").format(*options) +
                                   "'");
  }
  return ValidatePolicyOptions(*options);
}

Status ParsePolicy(const std::string& text, PolicyOptions* options, bool* sets_bits) {
  std::string id;
  std::unordered_map<std::string, std::string> values;
  // On malformed text GetOptionsMap returns OK with the whole text as `id`.
  Status status =
      rocksdb::Customizable::GetOptionsMap(rocksdb::ConfigOptions(), nullptr, text, &id, &values);
  if (status.ok()) status = ParsePolicyId(id, options);
  if (status.ok()) status = ParsePolicyFields(values, options);
  if (sets_bits != nullptr) {
    *sets_bits =
        id.find(':') != std::string::npos || values.count("bits_per_key") != 0 || HasRate(*options);
  }
  return status;
}

Status TakeSetting(const PolicySetting& setting, PolicyOptions* options) {
  return std::visit([&](const auto& settings) { return Take(settings, options); }, setting);
}

const char* PolicyName(PolicyKind kind) {
  constexpr std::array<const char*, kPolicyKinds.size()> kNames = {
      "exactbloom", "exact_ribbon", "classic_bloom", "standard_bloom", "rocksdb_bloom"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string FormatPolicyId(const PolicyOptions& options) {
  const std::string name = PolicyName(options.kind);
  return IsOfBitsAlone(options) ? name + ":" + FormatNumber(options.bits_per_key) : name;
}

std::string RefusedPolicyId(const char* name) {
  std::string text(name);
  text += ':';
  return text;
}

std::string FormatPolicy(const PolicyOptions& options) {
  const std::string fields = FormatPolicyFields(options, ";");
  return IsOfBitsAlone(options) ? fields : "{" + fields + "}";
}

std::string FormatPolicyFields(const PolicyOptions& options, const std::string& delimiter) {
  std::string id = FormatPolicyId(options);
  if (IsOfBitsAlone(options)) return id;
  std::string text = "id=" + id;
  for (const Rule& rule : kRules) {
    if (!IsNamed(rule, options)) continue;
    text.append(delimiter).append(rule.name).append("=").append(rule.format(options));
  }
  return text;
}

}  // namespace exactbloom
