#include "results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "support/errors.h"

namespace exactbloom::sweep {

using nlohmann::json;
using support::InputError;

ResultsFile::ResultsFile(std::string path, std::string fingerprint)
    : path_(std::move(path)), fingerprint_(std::move(fingerprint)) {
  Read();
  const std::ofstream file(path_, std::ios::app);
  if (file) return;
  const std::error_code error(errno, std::generic_category());
  throw InputError(fmt::format("cannot write {}: {}", path_, error.message()));
}

void ResultsFile::Read() {
  std::ifstream file(path_);
  if (!file) return;
  std::uintmax_t whole_bytes = 0;
  for (std::string line; std::getline(file, line);) {
    // A sweep that was stopped left a part of a line, which is cut off.
    if (file.eof() && line.rfind('{', 0) == 0) break;
    whole_bytes += line.size() + 1;
    json result = json::parse(line, /*cb=*/nullptr, /*allow_exceptions=*/false);
    if (!result.is_object() || !result.contains("fingerprint")) {
      throw InputError(
          fmt::format("{}, line {} is not a result of a sweep", path_, lines_.size() + 1));
    }
    if (result["fingerprint"] != fingerprint_) {
      throw InputError(
          fmt::format("{} holds a sweep with other settings; give --results another file", path_));
    }
    lines_.push_back(std::move(result));
  }
  std::error_code error;
  std::filesystem::resize_file(path_, whole_bytes, error);
  if (error) throw InputError(fmt::format("cannot write {}: {}", path_, error.message()));
}

bool ResultsFile::Contains(const json& fields) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const json& line) {
    const auto items = fields.items();
    return std::all_of(items.begin(), items.end(), [&](const auto& field) {
      return line.contains(field.key()) && line[field.key()] == field.value();
    });
  });
}

void ResultsFile::Append(json line) {
  line["fingerprint"] = fingerprint_;
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << "\n" << std::flush;
  if (!file) throw InputError(fmt::format("cannot write {}", path_));
}

}  // namespace exactbloom::sweep
