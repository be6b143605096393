// The costs common to all filters: hashing a key, and choosing m and k once per filter.
#pragma once

#include <string>

namespace exactbloom::filter_benchmark {

// Measures both with Google Benchmark and returns a table of the times.
std::string MeasureFixedCosts();

}  // namespace exactbloom::filter_benchmark
