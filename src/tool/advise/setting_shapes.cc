#include "setting_shapes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/levels.h"

namespace exactbloom::tool {
namespace {

constexpr std::uint64_t kMostRuns = 64;  // of PlanLevels
constexpr double kSteps = 1000.0;        // digits beyond a thousandth of a bit say nothing

double Rounded(double bits) {
  return std::clamp(std::round(bits * kSteps) / kSteps, 0.0, kMaxBitsPerKey);
}

bool FiltersTheDeepest(const TreeShape& tree) {
  return tree.levels.back().deepest && !tree.deepest_unfiltered;
}

SettingShape RatioShape(const TreeShape& tree, int lines, BottommostFilter bottommost) {
  const double ratio = tree.size_multiplier;
  return [=](double bits) {
    BloomFilterPolicyOptions options = FlatShape(lines, bottommost)(bits);
    options.size_ratio = ratio;
    return options;
  };
}

// Bits per key by level, from those of the levels that have tables: a level without takes those of
// the next below it.
std::vector<double> BitsByLevel(const TreeShape& tree, const std::vector<double>& bits) {
  std::vector<double> by_level;
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    by_level.resize(static_cast<std::size_t>(tree.levels[i].level) + 1, bits[i]);
  }
  return by_level;
}

// The division that wastes the fewest reads, of a level's runs in equal parts; nothing for more
// runs than can be planned. With two lines a key it is that of lines = 0, whose rates are near and
// take a thousandth of the time.
std::optional<std::vector<double>> DivideBits(const TreeShape& tree, int lines,
                                              BottommostFilter bottommost, double bits_per_key) {
  if (tree.Runs() > kMostRuns) return std::nullopt;
  std::vector<std::uint64_t> keys;
  for (const LevelShape& level : tree.levels) {
    if (level.deepest && tree.deepest_unfiltered) continue;
    keys.insert(keys.end(), level.runs, std::max<std::uint64_t>(1, level.keys / level.runs));
  }
  double total = 0.0;
  for (const std::uint64_t n : keys) total += static_cast<double>(n) * bits_per_key;
  const Layout layout{FilterKind::kClassic, lines == 2 ? 0 : lines};
  const auto plan = PlanLevels(layout, keys, static_cast<std::uint64_t>(total), bottommost);
  if (!plan) return std::nullopt;
  std::vector<double> bits(tree.levels.size(), 0.0);
  std::size_t run = 0;
  for (std::size_t i = 0; i < tree.levels.size() && run < keys.size(); ++i) {
    double level_bits = 0.0;
    double level_keys = 0.0;
    for (std::uint64_t r = 0; r < tree.levels[i].runs; ++r, ++run) {
      level_bits += static_cast<double>(plan->filters[run].bits);
      level_keys += static_cast<double>(keys[run]);
    }
    bits[i] = level_bits / level_keys;
  }
  return bits;
}

// Bits added to all levels alike keep their rates in proportion.
SettingShape LevelShapeOf(const TreeShape& tree, int lines, BottommostFilter bottommost,
                          double planned_bits_per_key, const std::vector<double>& planned) {
  const std::vector<double> by_level = BitsByLevel(tree, planned);
  return [=](double bits_per_key) {
    BloomFilterPolicyOptions options;
    options.lines = lines;
    options.bottommost = bottommost;
    for (const double bits : by_level) {
      options.level_bits.push_back(
          bits == 0.0 ? 0.0 : Rounded(bits + bits_per_key - planned_bits_per_key));
    }
    return options;
  };
}

// The fewest bits per key at which a level's tables have at most this rate.
double BitsAtRate(FilterPrediction& prediction, const LevelShape& level, Layout layout, bool ribbon,
                  double rate) {
  double low = 0.0;
  double high = kMaxBitsPerKey;
  while (high - low > 1.0 / kSteps) {
    const double middle = Rounded((low + high) / 2.0);
    if (middle <= low || middle >= high) break;
    const bool enough = prediction.PredictLevel(level, layout, {middle, 0.0, ribbon}).rate <= rate;
    (enough ? high : low) = middle;
  }
  return high;
}

}  // namespace

SettingShape FlatShape(int lines, BottommostFilter bottommost) {
  return [=](double bits) {
    BloomFilterPolicyOptions options;
    options.bits_per_key = Rounded(bits);
    options.lines = lines;
    options.bottommost = bottommost;
    return options;
  };
}

std::vector<SettingShape> OtherShapes(const TreeShape& tree, int lines, double bits_per_key) {
  std::vector<SettingShape> shapes;
  const bool level_compaction = tree.compaction_style == rocksdb::kCompactionStyleLevel;
  const bool ratio_known =
      level_compaction && tree.size_multiplier > 1.0 && tree.size_multiplier <= kMaxSizeRatio;
  for (const BottommostFilter bottommost : {BottommostFilter::kBloom, BottommostFilter::kRibbon}) {
    const bool ribbon = bottommost == BottommostFilter::kRibbon;
    if (ribbon && !FiltersTheDeepest(tree)) continue;
    if (ribbon) shapes.push_back(FlatShape(lines, bottommost));
    if (tree.levels.size() < 2) continue;
    if (ratio_known) shapes.push_back(RatioShape(tree, lines, bottommost));
    const auto planned = DivideBits(tree, lines, bottommost, bits_per_key);
    if (planned) {
      shapes.push_back(LevelShapeOf(tree, lines, bottommost, bits_per_key, *planned));
    }
  }
  return shapes;
}

std::vector<BloomFilterPolicyOptions> SettingsAtRate(FilterPrediction& prediction, int lines,
                                                     double rate) {
  const TreeShape& tree = prediction.tree();
  std::vector<BloomFilterPolicyOptions> settings(1);
  settings[0].lines = lines;
  settings[0].fpr = rate;
  if (!FiltersTheDeepest(tree)) return settings;
  std::vector<double> bits;
  for (const LevelShape& level : tree.levels) {
    bits.push_back(
        BitsAtRate(prediction, level, {FilterKind::kClassic, lines}, level.deepest, rate));
  }
  BloomFilterPolicyOptions& ribbon = settings.emplace_back();
  ribbon.lines = lines;
  ribbon.level_bits = BitsByLevel(tree, bits);
  ribbon.bottommost = BottommostFilter::kRibbon;
  return settings;
}

int ComplexityOf(const BloomFilterPolicyOptions& options) {
  return (options.lines != 0 ? 1 : 0) + (options.size_ratio != 0.0 ? 1 : 0) +
         (options.level_bits.empty() ? 0 : 2) +
         (options.bottommost == BottommostFilter::kRibbon ? 1 : 0);
}

}  // namespace exactbloom::tool
