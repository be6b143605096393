// How the subcommands write layouts, policies, rates, names and JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "exactbloom/layout.h"
#include "tool/support/optional_json.h"

namespace exactbloom::tool {

// "classic", "standard, lines = 1": for headings.
std::string Describe(Layout layout);

// The string that configures this layout in RocksDB, such as classic_bloom:10.
std::string PolicyString(Layout layout, double bits_per_key);

// "1 table", "2 tables".
std::string Counted(std::uint64_t count, const std::string& noun);

// A rate in five digits, as a percentage while that is easy to read.
std::string FormatRate(double rate);

// The number of a level of RocksDB; "-" if it is not known.
std::string LevelName(int level);

// The last part of a path.
std::string FileName(const std::string& path);

// Prints the document on standard output. JSON has no NaN or infinity: they become null.
void PrintJson(const nlohmann::json& document);

}  // namespace exactbloom::tool
