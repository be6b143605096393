// The report of a results file, in all of its forms.
#pragma once

#include <string>

namespace exactbloom::sweep {

// Writes into `directory`, which is made if need be: index.html, a page that needs nothing else;
// report.md; points.csv; report.json; and the figures as SVG files. Throws InputError when the
// results cannot be read or are none, a file cannot be written, or gnuplot is missing.
void WriteReport(const std::string& results_path, const std::string& directory);

}  // namespace exactbloom::sweep
