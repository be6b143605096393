// The subcommands. Each adds itself with its options and runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace exactbloom::tool {

void AddRateCommand(CLI::App& app);
void AddPlanCommand(CLI::App& app);
void AddTableCommand(CLI::App& app);

}  // namespace exactbloom::tool
