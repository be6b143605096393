#include "policy_options.h"

#include <rocksdb/convenience.h>
#include <rocksdb/customizable.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/layout.h"
#include "exactbloom/levels.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

constexpr std::size_t kMostLevels = 64;
constexpr char kLevelSeparator = ':';
constexpr char kIdSeparator = '/';

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

bool ReadLevelBits(const std::string& text, std::vector<double>* values) {
  values->clear();
  if (text.empty()) return true;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(kLevelSeparator, begin);
    double value = 0.0;
    if (!ReadNumber(text.substr(begin, end - begin), &value)) return false;
    values->push_back(value);
    if (end == std::string::npos) return true;
    begin = end + 1;
  }
}

// Units of bytes, as RocksDB's own options have them.
constexpr std::string_view kUnits = "KMGT";
constexpr int kUnitShift = 10;

// Returns by how many bits the unit at the end of a number shifts it; nothing if there is none
// such.
std::optional<int> ShiftOfUnit(const std::string& text) {
  if (text.empty()) return 0;
  const auto letter = static_cast<unsigned char>(text[0]);
  const std::size_t unit = kUnits.find(static_cast<char>(std::toupper(letter)));
  const bool is_unit =
      unit != std::string_view::npos && (text.size() == 1 || text.substr(1) == "iB");
  if (!is_unit) return std::nullopt;
  return (static_cast<int>(unit) + 1) * kUnitShift;
}

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

bool IsBudgetName(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  return name.size() <= kLongest && std::all_of(name.begin(), name.end(), [](unsigned char letter) {
           return (std::isalnum(letter) != 0 && letter < 0x80) || letter == '_' || letter == '-' ||
                  letter == '.';
         });
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

// The policies that have an option.
enum class Having : std::uint8_t { kAll, kExactBloom, kPlain };

// One option: how its text is read and written, and its range.
struct Rule {
  const char* name;
  Having policies;
  std::string range;
  bool (*read)(const std::string& text, PolicyOptions* options);  // false: not a value of its type
  bool (*is_valid)(const PolicyOptions& options);
  std::string (*format)(const PolicyOptions& options);

  bool IsOf(PolicyKind kind) const {
    return policies == Having::kAll ||
           (policies == Having::kExactBloom) == (kind == PolicyKind::kExactBloom);
  }
};

const std::array<Rule, 9>& Rules() {
  static const std::array<Rule, 9> rules = {{
      {"bits_per_key", Having::kAll, "a number from 0 to " + FormatNumber(kMaxBitsPerKey),
       [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->bits_per_key); },
       [](const PolicyOptions& o) { return IsBitsPerKey(o.bits_per_key); },
       [](const PolicyOptions& o) { return FormatNumber(o.bits_per_key); }},
      {"memory_budget", Having::kExactBloom,
       "a whole number of bytes, below 2^53, to which K, M, G or T may be added, or a percentage "
       "of the memory that the process may use, up to 100%",
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
       "a name of up to 64 letters, digits, underscores, hyphens and points",
       [](const std::string& text, PolicyOptions* o) {
         o->budget = text;
         return true;
       },
       [](const PolicyOptions& o) { return IsBudgetName(o.budget); },
       [](const PolicyOptions& o) { return o.budget; }},
      {"ribbon", Having::kExactBloom, "true or false",
       [](const std::string& text, PolicyOptions* o) { return ReadTruth(text, &o->ribbon); },
       [](const PolicyOptions&) { return true; },
       [](const PolicyOptions& o) -> std::string { return o.ribbon ? "true" : "false"; }},
      {"size_ratio", Having::kExactBloom,
       "0 (by the live tree) or a number above 1, up to " + FormatNumber(kMaxSizeRatio),
       [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->size_ratio); },
       [](const PolicyOptions& o) {
         return o.size_ratio == 0.0 || (o.size_ratio > 1.0 && o.size_ratio <= kMaxSizeRatio);
       },
       [](const PolicyOptions& o) { return FormatNumber(o.size_ratio); }},
      {"fpr", Having::kPlain,
       "0 or a number from " + FormatNumber(kMinTargetRate) + " to " + FormatNumber(kMaxTargetRate),
       [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->fpr); },
       [](const PolicyOptions& o) {
         return o.fpr == 0.0 || (o.fpr >= kMinTargetRate && o.fpr <= kMaxTargetRate);
       },
       [](const PolicyOptions& o) { return FormatNumber(o.fpr); }},
      {"lines", Having::kPlain, "0 or 1",
       [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->lines); },
       [](const PolicyOptions& o) { return o.lines >= 0 && o.lines <= kMaxLines; },
       [](const PolicyOptions& o) { return std::to_string(o.lines); }},
      {"level_bits", Having::kPlain,
       "up to " + std::to_string(kMostLevels) + " numbers from 0 to " +
           FormatNumber(kMaxBitsPerKey) + ", separated by colons",
       [](const std::string& text, PolicyOptions* o) {
         return ReadLevelBits(text, &o->level_bits);
       },
       [](const PolicyOptions& o) {
         return o.level_bits.size() <= kMostLevels &&
                std::all_of(o.level_bits.begin(), o.level_bits.end(), IsBitsPerKey);
       },
       [](const PolicyOptions& o) { return FormatLevelBits(o.level_bits); }},
      {"hash_seed", Having::kAll,
       "a whole number from 0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max()),
       [](const std::string& text, PolicyOptions* o) { return ReadNumber(text, &o->hash_seed); },
       [](const PolicyOptions&) { return true; },
       [](const PolicyOptions& o) { return std::to_string(o.hash_seed); }},
  }};
  return rules;
}

std::string NamesOfOptions(PolicyKind kind) {
  std::string names;
  for (const Rule& rule : Rules()) {
    if (rule.IsOf(kind)) names.append(names.empty() ? "" : ", ").append(rule.name);
  }
  return names;
}

Status RefuseOption(PolicyKind kind, const std::string& option, const std::string& value) {
  std::string message = "exactbloom: ";
  message.append(PolicyName(kind)).append(" has no option '").append(option);
  message.append("' for the value '").append(value).append("'; its options are ");
  message += NamesOfOptions(kind);
  const PolicyKind other =
      kind == PolicyKind::kExactBloom ? PolicyKind::kClassicBloom : PolicyKind::kExactBloom;
  message.append("; those of ").append(PolicyName(other)).append(" are ");
  return Status::InvalidArgument(message + NamesOfOptions(other));
}

Status Refuse(const Rule& rule, const std::string& value) {
  return Status::InvalidArgument("exactbloom: " + std::string(rule.name) + " is '" + value +
                                 "', but must be " + rule.range);
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
  const auto rule = std::find_if(Rules().begin(), Rules().end(),
                                 [&](const Rule& known) { return known.name == name; });
  return rule == Rules().end() ? nullptr : &*rule;
}

const Rule& RuleOf(std::string_view name) { return *FindRule(name); }

// Null if policies of this kind have no such option.
const Rule* FindRule(std::string_view name, PolicyKind kind) {
  const Rule* rule = FindRule(name);
  return rule != nullptr && rule->IsOf(kind) ? rule : nullptr;
}

bool IsChanged(const Rule& rule, const PolicyOptions& options) {
  return rule.format(options) != rule.format(PolicyOptions());
}

// The options that name a policy: those that have not their defaults, and bits_per_key, unless
// others replace it.
std::vector<const Rule*> NamingRules(const PolicyOptions& options) {
  const Rule& bits = RuleOf("bits_per_key");
  std::vector<const Rule*> rules;
  for (const Rule& rule : Rules()) {
    if (&rule == &bits ? !ReplacesBits(options) : IsChanged(rule, options)) rules.push_back(&rule);
  }
  return rules;
}

// The address is that of the whole struct, so an option needs nothing but its rule.
rocksdb::OptionTypeInfo TypeOf(const Rule& rule) {
  using rocksdb::ConfigOptions;
  rocksdb::OptionTypeInfo type(0, rocksdb::OptionType::kUnknown);
  const Rule* known = &rule;
  type.SetParseFunc(
      [known](const ConfigOptions&, const std::string&, const std::string& text, void* options) {
        return Parse(*known, text, static_cast<PolicyOptions*>(options));
      });
  type.SetSerializeFunc(
      [known](const ConfigOptions&, const std::string&, const void* options, std::string* text) {
        *text = known->format(*static_cast<const PolicyOptions*>(options));
        return Status::OK();
      });
  type.SetEqualsFunc([known](const ConfigOptions&, const std::string&, const void* one,
                             const void* other, std::string*) {
    return known->format(*static_cast<const PolicyOptions*>(one)) ==
           known->format(*static_cast<const PolicyOptions*>(other));
  });
  return type;
}

}  // namespace

std::string FormatNumber(double value) {
  constexpr int kUsualDigits = 6;  // fewer would write 10 as 1e+01
  for (int digits = kUsualDigits;; ++digits) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(digits);
    out << value;
    double read_back = 0.0;
    const bool same = ReadNumber(out.str(), &read_back) && read_back == value;
    if (same || digits == std::numeric_limits<double>::max_digits10) return out.str();
  }
}

std::string FormatPolicyId(const PolicyOptions& options) {
  std::string id = PolicyName(options.kind);
  char separator = ':';
  for (const Rule* rule : NamingRules(options)) {
    id += separator;
    if (rule != &RuleOf("bits_per_key")) id.append(rule->name).append(":");
    id += rule->format(options);
    separator = kIdSeparator;
  }
  return id;
}

Status ParsePolicyId(const std::string& text, PolicyOptions* options) {
  Status status;
  std::string bits;
  bool is_first = true;
  std::size_t begin = 0;
  while (status.ok() && begin != std::string::npos) {
    const std::size_t end = text.find(kIdSeparator, begin);
    const std::string item = text.substr(begin, end - begin);
    begin = end == std::string::npos ? end : end + 1;
    const std::size_t colon = item.find(':');
    const std::string name = item.substr(0, std::min(colon, item.size()));
    const Rule* named = colon == std::string::npos ? nullptr : FindRule(name);
    // Without a name it is bits_per_key, which only the first can be.
    const Rule& rule = named != nullptr ? *named : RuleOf("bits_per_key");
    const std::string& unnamed = is_first ? item : text;
    const std::string value = named != nullptr ? item.substr(colon + 1) : unnamed;
    if (!rule.IsOf(options->kind)) return RefuseOption(options->kind, name, value);
    status = Parse(rule, value, options);
    if (&rule == &RuleOf("bits_per_key")) bits = value;
    is_first = false;
  }
  if (!status.ok() || bits.empty()) return status;
  return RefuseReplacedBits({{"bits_per_key", bits}}, *options);
}

Status ValidatePolicyOptions(const PolicyOptions& options) {
  for (const Rule& rule : Rules()) {
    if (!rule.is_valid(options)) return Refuse(rule, rule.format(options));
  }
  const auto exclude = [&](const char* first, const char* second, const char* reason) {
    return Status::InvalidArgument(
        std::string("exactbloom: ") + first + " '" + RuleOf(first).format(options) + "' and " +
        second + " '" + RuleOf(second).format(options) + "' exclude each other: " + reason);
  };
  if (options.fpr != 0.0 && !options.level_bits.empty()) {
    return exclude("fpr", "level_bits", "both say how large filters are");
  }
  if (HasBudget(options) && options.size_ratio != 0.0) {
    const bool has_size = options.memory_budget != 0 || options.memory_percent != 0.0;
    return exclude(has_size ? "memory_budget" : "budget", "size_ratio",
                   "with a fixed ratio it is not known how much memory the tree takes");
  }
  if (options.hash_seed != 0 && HasRibbon(options)) {
    return exclude("hash_seed", "ribbon", "Ribbon filters take no salt");
  }
  return Status::OK();
}

std::string FormatLevelBits(const std::vector<double>& bits_per_key) {
  std::string text;
  for (const double bits : bits_per_key) {
    if (!text.empty()) text += kLevelSeparator;
    text += FormatNumber(bits);
  }
  return text;
}

Status RefuseUnknownOption(PolicyKind kind,
                           const std::unordered_map<std::string, std::string>& values,
                           const Status& otherwise) {
  for (const auto& [option, value] : values) {
    if (FindRule(option, kind) == nullptr) return RefuseOption(kind, option, value);
  }
  return otherwise;
}

Status RefuseReplacedBits(const std::unordered_map<std::string, std::string>& values,
                          const PolicyOptions& options) {
  const auto bits = values.find("bits_per_key");
  if (bits == values.end() || !ReplacesBits(options)) return Status::OK();
  const Rule& other = RuleOf(options.fpr != 0.0 ? "fpr" : "level_bits");
  std::string message = "exactbloom: bits_per_key '";
  message.append(bits->second).append("' has no effect beside ").append(other.name).append(" '");
  return Status::InvalidArgument(message.append(other.format(options)).append("'"));
}

Status ParsePolicy(const std::string& text, PolicyOptions* options, bool* sets_bits) {
  std::string id;
  std::unordered_map<std::string, std::string> values;
  // On malformed text GetOptionsMap returns OK with the whole text as `id`.
  Status status =
      rocksdb::Customizable::GetOptionsMap(rocksdb::ConfigOptions(), nullptr, text, &id, &values);
  if (!status.ok()) return status;
  const std::size_t colon = std::min(id.find(':'), id.size());
  const std::string name = id.substr(0, colon);
  const auto kind = std::find_if(kPolicyKinds.begin(), kPolicyKinds.end(),
                                 [&](PolicyKind known) { return name == PolicyName(known); });
  if (kind == kPolicyKinds.end()) {
    return Status::InvalidArgument("exactbloom: the filter policy is '" + name +
                                   "', but must be exactbloom, classic_bloom or standard_bloom");
  }
  *options = PolicyOptions(*kind);
  options->bits_per_key = std::numeric_limits<double>::quiet_NaN();  // shows whether it is set
  if (colon < id.size()) {
    status = ParsePolicyId(id.substr(colon + 1), options);
    if (!status.ok()) return status;
  }
  for (const auto& [option, value] : values) {
    const Rule* rule = FindRule(option, *kind);
    if (rule == nullptr) return RefuseOption(*kind, option, value);
    status = Parse(*rule, value, options);
    if (!status.ok()) return status;
  }
  const bool has_bits = !std::isnan(options->bits_per_key);
  if (sets_bits != nullptr) *sets_bits = has_bits || ReplacesBits(*options);
  if (!has_bits) options->bits_per_key = PolicyOptions().bits_per_key;
  status = RefuseReplacedBits(values, *options);
  return status.ok() ? ValidatePolicyOptions(*options) : status;
}

const char* PolicyName(PolicyKind kind) {
  constexpr std::array<const char*, kPolicyKinds.size()> kNames = {"exactbloom", "classic_bloom",
                                                                   "standard_bloom"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string FormatPolicy(const PolicyOptions& options) {
  const std::string fields = FormatPolicyFields(options, ";");
  return fields.empty() ? FormatPolicyId(options) : "{" + fields + "}";
}

std::string FormatPolicyFields(const PolicyOptions& options, const std::string& delimiter) {
  const std::vector<const Rule*> rules = NamingRules(options);
  if (rules.size() == 1 && rules.front() == &RuleOf("bits_per_key")) return "";
  std::string text = "id=";
  text += PolicyName(options.kind);
  for (const Rule* rule : rules) {
    text.append(delimiter).append(rule->name).append("=").append(rule->format(options));
  }
  return text;
}

const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& PolicyOptionTypes(PolicyKind kind) {
  using Types = std::unordered_map<std::string, rocksdb::OptionTypeInfo>;
  static const auto types = [] {
    std::array<Types, kPolicyKinds.size()> of_kinds;
    for (const PolicyKind policy : kPolicyKinds) {
      for (const Rule& rule : Rules()) {
        if (rule.IsOf(policy))
          of_kinds[static_cast<std::size_t>(policy)].emplace(rule.name, TypeOf(rule));
      }
    }
    return of_kinds;
  }();
  return types[static_cast<std::size_t>(kind)];
}

}  // namespace exactbloom
