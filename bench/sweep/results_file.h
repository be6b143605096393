// The results of a sweep: one JSON object a line, added as soon as it is measured, so that a sweep
// that was stopped goes on where it was.
//
//   {"kind": "run", ...}      how, with what and on what the lines behind it were measured
//   {"kind": "point", ...}    point.h
//   {"kind": "sizing", ...}   point.h
//
// Every line has the fingerprint of the sweep's settings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "point.h"
#include "sweep_settings.h"

namespace exactbloom::sweep {

struct Results {
  std::string fingerprint;           // empty if there are no lines yet
  std::vector<nlohmann::json> runs;  // in order
  std::vector<Point> points;
  std::vector<SizingPoint> sizing;

  bool Contains(const std::string& tree, const std::string& family, double bits) const;
  bool Contains(const SizingPoint& planned) const;
};

// Reads a results file; a last line that a killed run left unfinished is passed over, and a file
// that does not exist has no results. Throws InputError naming the line of anything else, and where
// lines are of different sweeps.
Results ReadResults(const std::string& path);

// Adds lines to a results file.
class ResultsFile {
 public:
  // Throws InputError when the file holds another sweep or cannot be written.
  ResultsFile(const std::string& path, const std::string& fingerprint);

  const Results& Found() const { return found_; }

  // Writes the line to the disk before it returns. Throws InputError when that fails.
  void Append(nlohmann::json line);

 private:
  std::string path_;
  std::string fingerprint_;
  Results found_;
};

}  // namespace exactbloom::sweep
