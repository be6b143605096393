// What the subcommands' arguments have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
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

// "classic", "standard, lines = 1": for headings.
std::string Describe(Layout layout);

// The policy's name in RocksDB.
const char* PolicyId(FilterKind kind);

// The string that configures this layout in RocksDB, such as classic_bloom:10.
std::string PolicyString(Layout layout, double bits_per_key);

// A rate in five digits, as a percentage while that is easy to read.
std::string FormatRate(double rate);

// JSON knows no NaN or infinity: they become null.
nlohmann::json Number(double value);

// Prints the document on standard output.
void PrintJson(const nlohmann::json& document);

}  // namespace exactbloom::tool
