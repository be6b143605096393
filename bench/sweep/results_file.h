// The results of a sweep: one JSON object per line, each with the fingerprint of the sweep's
// settings. docs/report.md lists the fields of each kind of line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace exactbloom::sweep {

class ResultsFile {
 public:
  // Reads the lines that a file already has, and cuts off a last one that a killed run left
  // unfinished. Throws InputError for a line that is not a result, for a file of a sweep with
  // another fingerprint, and for one that cannot be written.
  ResultsFile(std::string path, std::string fingerprint);

  // Whether some line has all of these fields with these values.
  bool Contains(const nlohmann::json& fields) const;

  // Writes the line before it returns. Throws InputError when that fails.
  void Append(nlohmann::json line);

 private:
  void Read();

  std::string path_;
  std::string fingerprint_;
  std::vector<nlohmann::json> lines_;  // that were there at the start
};

}  // namespace exactbloom::sweep
