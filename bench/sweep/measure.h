// Measuring the points of a sweep.
#pragma once

#include <string>

#include "sweep_plan.h"

namespace exactbloom::sweep {

// Measures the points that settings.results lacks, adding each as soon as it is known, and prints a
// line for each. `command` is kept with them. Throws as readamp does; the results so far are kept,
// and no database is left.
void Measure(const SweepSettings& settings, const std::string& command);

}  // namespace exactbloom::sweep
