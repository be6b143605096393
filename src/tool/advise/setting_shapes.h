// The kinds of settings that the policy offers, each with one number left open.
#pragma once

#include <functional>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "filter_prediction.h"
#include "tree_shape.h"

namespace exactbloom::tool {

inline constexpr double kDefaultBitsPerKey = 10.0;

// Takes bits per key and returns valid options.
using SettingShape = std::function<BloomFilterPolicyOptions(double bits_per_key)>;

SettingShape FlatShape(int lines, BottommostFilter bottommost);

// Those that make sense for the tree, but for the flat one of Bloom filters.
//   bits_per_key   about what the answer will be, for the division among the levels
std::vector<SettingShape> OtherShapes(const TreeShape& tree, int lines, double bits_per_key);

// The settings whose tables all have at most this rate, with the fewest bytes.
std::vector<BloomFilterPolicyOptions> SettingsAtRate(FilterPrediction& prediction, int lines,
                                                     double rate);

// How many ideas a setting takes to explain: lines, a size ratio, bits by level (which are right
// for one tree only, and count twice), Ribbon filters.
int ComplexityOf(const BloomFilterPolicyOptions& options);

}  // namespace exactbloom::tool
