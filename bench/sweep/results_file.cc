#include "results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace exactbloom::sweep {
namespace {

using nlohmann::json;

void AddLine(const json& line, Results& results) {
  const std::string fingerprint = line.at("fingerprint");
  if (results.fingerprint.empty()) results.fingerprint = fingerprint;
  if (fingerprint != results.fingerprint) throw InputError("is of a sweep with other settings");
  const std::string kind = line.at("kind");
  if (kind == "run") results.runs.push_back(line);
  if (kind == "point") results.points.push_back(PointFromJson(line));
  if (kind == "sizing") results.sizing.push_back(SizingPointFromJson(line));
}

// The bytes up to the end of the last whole line.
std::uintmax_t WholeLines(const std::string& path) {
  std::ifstream file(path);
  std::uintmax_t bytes = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) bytes += line.size() + 1;
  return bytes;
}

}  // namespace

bool Results::Contains(const std::string& tree, const std::string& family, double bits) const {
  return std::any_of(points.begin(), points.end(), [&](const Point& point) {
    return point.tree == tree && point.family == family && point.bits == bits;
  });
}

bool Results::Contains(const SizingPoint& planned) const {
  return std::any_of(sizing.begin(), sizing.end(), [&](const SizingPoint& point) {
    return point.layout == planned.layout && point.keys == planned.keys &&
           point.bits == planned.bits;
  });
}

Results ReadResults(const std::string& path) {
  Results results;
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (file.eof()) break;  // no newline: unfinished
    try {
      AddLine(json::parse(line), results);
    } catch (const json::exception& error) {
      throw InputError(fmt::format("{}, line {}: {}", path, number, error.what()));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}, line {} {}", path, number, error.what()));
    }
  }
  return results;
}

ResultsFile::ResultsFile(const std::string& path, const std::string& fingerprint)
    : path_(path), fingerprint_(fingerprint), found_(ReadResults(path)) {
  if (!found_.fingerprint.empty() && found_.fingerprint != fingerprint) {
    throw InputError(
        fmt::format("{} holds a sweep with other settings; give --results another file", path));
  }
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    std::filesystem::resize_file(path, WholeLines(path), error);
  }
  const std::ofstream file(path, std::ios::app);
  if (!file || error) {
    throw InputError(fmt::format(
        "cannot write {}: {}", path,
        error ? error.message() : std::error_code(errno, std::generic_category()).message()));
  }
}

void ResultsFile::Append(json line) {
  line["fingerprint"] = fingerprint_;
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << "\n" << std::flush;
  if (!file) throw InputError(fmt::format("cannot write {}", path_));
}

}  // namespace exactbloom::sweep
