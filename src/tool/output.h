// How the subcommands write layouts, policies, rates and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "exactbloom/layout.h"

namespace exactbloom::tool {

// "classic", "standard, lines = 1": for headings.
std::string Describe(Layout layout);

// The string that configures this layout in RocksDB, such as classic_bloom:10.
std::string PolicyString(Layout layout, double bits_per_key);

// A rate in five digits, as a percentage while that is easy to read.
std::string FormatRate(double rate);

// JSON knows no NaN or infinity: they become null.
nlohmann::json Number(double value);

// Prints the document on standard output.
void PrintJson(const nlohmann::json& document);

}  // namespace exactbloom::tool
