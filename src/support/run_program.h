// The frame of a program that measures: how its errors become exit statuses.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace exactbloom::support {

// The command as it was given, for the report.
std::string CommandLine(const std::string& program, int argc, char** argv);

// Parses the arguments into what `app` was told and runs `measure`. Returns the exit status; for
// every failure one line on stderr says what it was.
int RunProgram(CLI::App& app, int argc, char** argv, const std::function<void()>& measure);

}  // namespace exactbloom::support
