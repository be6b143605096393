// The command line.
#pragma once

#include "readamp_settings.h"

namespace CLI {
class App;
}

namespace exactbloom::readamp {

// Tells `app` the options and where they go. Latencies take the suffixes ns, us and ms, sizes kb,
// mb and so on; a block cache may be `all`.
void DescribeArguments(CLI::App& app, Settings& settings);

// Only the options of the keys.
void DescribeKeys(CLI::App& app, Settings& settings);

}  // namespace exactbloom::readamp
