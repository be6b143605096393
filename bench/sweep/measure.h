// Measuring the points of a sweep.
#pragma once

#include "results_file.h"
#include "sweep_settings.h"

namespace exactbloom::sweep {

// Measures the points that settings.results lacks, adding each as soon as it is known, and prints a
// line for each. Throws as readamp does; the results so far are kept, and no database is left.
void Measure(const SweepSettings& settings, const std::string& command);

}  // namespace exactbloom::sweep
