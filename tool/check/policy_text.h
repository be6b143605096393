// What is wrong with the text of filter_policy= in an OPTIONS file.
//
// RocksDB reads a text that it does not understand without an error, and then writes tables without
// filters. It knows ExactBloom's policies if RegisterFilterPolicies() was called.
#pragma once

#include <string>
#include <vector>

namespace exactbloom::tool {

struct TextProblem {
  std::string problem;
  std::string meant;  // the text that is probably meant, or empty
};

// Returns the problems of such a text; none for a policy of RocksDB or ExactBloom that RocksDB
// reads as it is written, and that makes filters or has 0 bits per key.
std::vector<TextProblem> ProblemsOfPolicy(const std::string& text);

// Whether a text without problems has 0 bits per key.
bool MakesNoFilters(const std::string& text);

}  // namespace exactbloom::tool
