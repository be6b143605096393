// How builders refuse an option that is out of its range.
#pragma once

#include <cstdio>
#include <string>

namespace exactbloom::filter {

// If an option is out of range, describes that in `error`, unless that is null, and returns false.
// NaN lies in no range.
inline bool IsWithin(const char* name, double value, double least, double most,
                     std::string* error) {
  if (value >= least && value <= most) return true;
  if (error != nullptr) {
    char text[128];
    std::snprintf(text, sizeof text, "%s is %.10g, but must be from %.10g to %.10g", name, value,
                  least, most);
    *error = text;
  }
  return false;
}

}  // namespace exactbloom::filter
