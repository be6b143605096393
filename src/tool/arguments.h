// What the subcommands' arguments have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::tool {

// Adds --kind and --lines.
void AddLayout(CLI::App& app, Layout& layout);

// Adds the paths that ListTables takes: a database's directory, or table files.
void AddDatabase(CLI::App& app, std::vector<std::string>& paths);

// Adds an option for a whole number, which may be written as 1000000 or 1e6.
CLI::Option* AddCount(CLI::App& app, const std::string& name, std::uint64_t& value,
                      const std::string& description);

// The transformation behind it, for options that take several.
CLI::Validator WholeNumber();

}  // namespace exactbloom::tool
