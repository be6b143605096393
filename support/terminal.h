// What standard output is: how wide, and whether it shows colours.
#pragma once

#include <cstddef>
#include <string>

namespace exactbloom::support {

// Of a terminal whose width is not known, and of files and pipes.
inline constexpr std::size_t kUsualColumns = 80;

// Returns the columns of a line of standard output: the environment variable COLUMNS if it is a
// number from 40 to 10,000, else the width of the terminal, else kUsualColumns.
std::size_t Columns();

enum class Style { kPlain, kBold, kGood, kBad };

// Returns the text in this style: with escape sequences if standard output is a terminal other
// than a dumb one and the environment variable NO_COLOR is unset or empty (no-color.org), else as
// it is.
std::string Styled(const std::string& text, Style style);

}  // namespace exactbloom::support
