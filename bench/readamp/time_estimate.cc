#include "time_estimate.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "equal_bytes.h"
#include "policy_measurement.h"

namespace exactbloom::readamp {
namespace {

// The first part, and how much larger the next one is.
constexpr std::size_t kLeastKeys = 100;
constexpr std::size_t kGrowth = 4;

// The parts are large enough when two of them differ by so many seconds: by more than the usual
// disturbances of a machine, and of the wait for the end of compactions.
double SecondsThatTell(const ReadampSettings& settings) {
  const bool waits = settings.tree == Tree::kLoaded || settings.tree == Tree::kUniversal;
  return waits ? 1.5 : 0.6;
}

using Work = std::function<void(const KeySet& part, const ReadampSettings& settings)>;

// Null if the part is too small for the settings.
std::optional<TimedPart> Time(const Work& work, const KeySet& keys, const ReadampSettings& settings,
                              std::size_t count) {
  const ReadampSettings scaled = SettingsOfPart(settings, keys, count);
  try {
    const KeySet part = FirstKeys(keys, count, scaled);
    const auto start = std::chrono::steady_clock::now();
    work(part, scaled);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    return TimedPart{count, std::chrono::duration<double>(elapsed).count()};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<double> SecondsOfAll(const Work& work, const KeySet& keys,
                                   const ReadampSettings& settings) {
  std::vector<TimedPart> parts;
  for (std::size_t count = kLeastKeys; 2 * count <= keys.size(); count *= kGrowth) {
    const std::optional<TimedPart> part = Time(work, keys, settings, count);
    if (!part) continue;
    const bool tells =
        !parts.empty() && part->seconds - parts.back().seconds > SecondsThatTell(settings);
    parts.push_back(*part);
    if (tells) break;
  }
  if (parts.empty()) return std::nullopt;
  return SecondsOf(parts, keys.size());
}

}  // namespace

double SecondsOf(const std::vector<TimedPart>& parts, std::size_t keys) {
  const TimedPart& last = parts.back();
  const TimedPart before = parts.size() < 2 ? TimedPart() : parts[parts.size() - 2];
  const double per_key =
      std::max(0.0, last.seconds - before.seconds) / static_cast<double>(last.keys - before.keys);
  return last.seconds + per_key * static_cast<double>(keys - last.keys);
}

ReadampSettings SettingsOfPart(const ReadampSettings& settings, const KeySet& all,
                               std::size_t keys) {
  const double share = static_cast<double>(keys) / static_cast<double>(all.size());
  const auto scaled = [share](auto value) {
    return static_cast<decltype(value)>(std::max(1.0, share * static_cast<double>(value)));
  };
  ReadampSettings part = settings;
  const bool grows = std::count(settings.workloads.begin(), settings.workloads.end(), "growth") > 0;
  part.lookups =
      std::max<std::uint64_t>(scaled(settings.lookups), grows ? settings.growth_points + 1 : 1);
  // As in the whole run, there is no limit where lookups warm the cache.
  const bool warms = settings.block_cache_bytes > kDefaultBlockCacheBytes;
  const bool limited = settings.unfiltered_lookups > 0 && !warms;
  part.unfiltered_lookups = limited ? scaled(settings.unfiltered_lookups) : 0;
  if (settings.block_cache_bytes > 0 && settings.block_cache_bytes != kWholeDatabase) {
    part.block_cache_bytes = scaled(settings.block_cache_bytes);
  }
  part.table_bytes = scaled(settings.table_bytes);
  return part;
}

std::optional<double> EstimateSeconds(const KeySet& keys, const ReadampSettings& settings,
                                      Progress& progress) {
  const auto measure = [&progress](const std::string& policy) -> Work {
    return [&progress, policy](const KeySet& part, const ReadampSettings& scaled) {
      MeasurePolicy(policy, part, MakeWorkloads(part, scaled), scaled, progress);
    };
  };
  const auto& policies = settings.policies;
  const auto has_filters = [](const std::string& policy) { return policy != "none"; };
  const auto filtered = std::count_if(policies.begin(), policies.end(), has_filters);
  const auto unfiltered = static_cast<std::ptrdiff_t>(policies.size()) - filtered;
  std::optional<double> seconds = 0.0;
  const auto add = [&](const Work& work, const KeySet& all, std::ptrdiff_t times) {
    if (times == 0 || !seconds) return;
    const std::optional<double> once = SecondsOfAll(work, all, settings);
    seconds = once ? std::optional(*seconds + static_cast<double>(times) * *once) : std::nullopt;
  };
  add(measure("none"), keys, unfiltered);
  if (filtered > 0) {
    const auto first = std::find_if(policies.begin(), policies.end(), has_filters);
    add(measure(WithEqualBytes(*first, keys.stored, kDefaultBits)), keys, filtered);
  }
  if (settings.bloom_table && settings.HasDictionary()) {
    add([&progress](const KeySet& part,
                    const ReadampSettings& scaled) { MeasureBloomTable(scaled, part, progress); },
        BloomTableKeys(settings), 1);
  }
  return seconds;
}

}  // namespace exactbloom::readamp
