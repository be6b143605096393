// How the subcommands write kinds, rates, names and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exactbloom/layout.h"
#include "support/optional_json.h"

namespace exactbloom::tool {

// "classic" or "standard".
std::string Describe(BloomKind kind);

// "1 table", "2 tables".
std::string Counted(std::uint64_t count, const std::string& noun);

// A rate as a percentage of three digits, without an exponent; "<0.0001%" below that.
std::string FormatRate(double rate);

// The same for questions about the rate itself: of five digits, and a number for every rate.
std::string FormatExactRate(double rate);

// Less is as good as none: one read in a million lookups.
inline constexpr double kPracticallyNone = 1e-6;

// Reads per lookup, as reads per 1,000 lookups: of three decimals, for tables.
std::string PerThousand(double reads);

// The same of three digits, for sentences; "practically none" below kPracticallyNone.
std::string WastedPerThousand(double reads);

// "5.6 MiB".
std::string FormatBytes(std::uint64_t bytes);

// With its first letter in capitals.
std::string Capitalized(std::string text);

// Three digits, and all of a whole number, for sentences. Never with an exponent.
std::string Rounded(double number);

// Prose in lines of at most 80 characters where its words allow that, with as many blanks before
// each, and a line break at the end. Its words are printable then.
std::string Wrapped(const std::string& text, std::size_t indent = 0);

// The number of a level of RocksDB; "-" if it is not known.
std::string LevelName(int level);

// The last part of a path.
std::string FileName(const std::string& path);

// A path as a word of the shell: in quotes if it needs them.
std::string ForShell(const std::string& path);

// "a", or "a and 9 more", of names that are not empty; escaped.
std::string FirstOf(const std::vector<std::string>& names);

// Whether two numbers of wasted reads per lookup differ by at most 10%, or are as good as none.
bool AreAlike(double reads, double others);

// A name as support::Printable shows it.
std::string Escaped(const std::string& bytes);

// Prints the document on standard output. JSON has no NaN or infinity: they become null. It is
// UTF-8, which names of column families and files need not be: those that are not are escaped.
void PrintJson(const nlohmann::json& document);

}  // namespace exactbloom::tool
