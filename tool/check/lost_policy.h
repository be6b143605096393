// A policy of ExactBloom that a database had, and that a program which did not know it dropped.
#pragma once

#include <string>

#include "checked_file.h"

namespace exactbloom::tool {

// Adds a problem for each column family that has no filter policy by its newest OPTIONS file,
// `file`, and of which an older file, a LOG or a table names one of ExactBloom's; and for each that
// has another policy and a table with a filter of ExactBloom. What cannot be read names nothing.
void CheckLostPolicies(const std::string& database, CheckedFile* file);

}  // namespace exactbloom::tool
