// What is wrong with the text of a filter policy in an OPTIONS file.
//
// RocksDB reads filter_policy= without an error when it does not understand it, and then builds
// tables without filters. So the text is looked at as a person would: what it says, and what was
// meant.
#pragma once

#include <string>
#include <vector>

namespace exactbloom::tool {

struct TextProblem {
  std::string problem;
  std::string meant;  // the text that is probably meant, or empty
};

// Returns the problems of the text behind filter_policy=, in the order in which they would be met.
// None for a policy of RocksDB's or ExactBloom's that is read as it is written.
std::vector<TextProblem> ProblemsOfPolicy(const std::string& text);

}  // namespace exactbloom::tool
