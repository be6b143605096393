// What check has to say of an OPTIONS file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tool/database/database_options.h"

namespace exactbloom::tool {

enum class RemarkKind : std::uint8_t {
  kProblem,
  kNeed,  // what the program must do for the line to be right
  kNote,
};

struct Remark {
  RemarkKind kind = RemarkKind::kProblem;
  std::size_t line = 0;  // 0: of the file as a whole
  std::string text;      // of the line
  std::string remark;
  std::string meant;  // what was probably meant, or empty
};

struct WrittenPolicy {
  std::string family;
  std::size_t line = 0;
  std::string text;

  bool IsNone() const { return text.empty() || text == "nullptr"; }
};

struct CheckedFile {
  std::string path;
  std::vector<WrittenPolicy> policies;  // that RocksDB keeps
  std::vector<Remark> remarks;
  bool names_ours = false;  // whether one of the policies is ExactBloom's

  std::size_t Count(RemarkKind kind) const {
    const auto is_such = [kind](const Remark& remark) { return remark.kind == kind; };
    return static_cast<std::size_t>(std::count_if(remarks.begin(), remarks.end(), is_such));
  }

  void Add(const OptionsLine& line, const std::string& problem, const std::string& meant = "") {
    Add(RemarkKind::kProblem, line, problem, meant);
  }
  void Add(RemarkKind kind, const OptionsLine& line, const std::string& remark,
           const std::string& meant = "") {
    remarks.push_back({kind, line.number, line.name + "=" + line.value, remark, meant});
  }
  void Add(const OptionsSection& section, const std::string& problem,
           const std::string& meant = "") {
    remarks.push_back({RemarkKind::kProblem, section.number, section.text, problem, meant});
  }
};

}  // namespace exactbloom::tool
