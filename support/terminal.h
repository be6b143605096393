// What standard output is: how wide, whether it shows colours, and how it shows names of any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

// Returns valid UTF-8 as it is, and as \xNN what is not, and control characters, which could move
// the cursor.
std::string Printable(std::string_view text);

// Returns how many columns of a terminal a text takes: of valid UTF-8 two for each wide character
// of East Asian scripts and emoji, one for each other, and none for a combining mark.
std::size_t ColumnsOf(std::string_view text);

// Returns the bytes of the longest beginning that takes at most so many columns.
std::size_t BytesWithin(std::string_view text, std::size_t columns);

}  // namespace exactbloom::support
