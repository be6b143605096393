// The answer of `exactbloom inspect` as a page for a browser: one file, which asks no other.
#pragma once

#include <string>

#include "tool/advise/advise.h"
#include "tool/database/inspection.h"

namespace exactbloom::tool {

// At most so many bytes.
inline constexpr std::size_t kMostPageBytes = 300'000;

// Returns the page: the answer, the sorted runs, what other memory would give, the
// advice with lines to copy, and the warnings. Numbers are in the attribute data-value as they are
// in the JSON, and rounded for readers. Where there are too many sorted runs, those of level 0 are
// one line, and then families that waste least are left out, which the page says.
std::string FormatPage(const Inspection& inspection, const Advice& advice);

}  // namespace exactbloom::tool
