// The subcommands of exactbloom. Each function adds one to `app`, with its help; when the command
// line names it, it runs and prints. They throw support::InputError for a question that has no
// answer, and Findings for one that found something wrong.
#pragma once

namespace CLI {
class App;
}

namespace exactbloom::tool {

void AddRate(CLI::App& app);
void AddPlan(CLI::App& app);
void AddTable(CLI::App& app);
void AddInspect(CLI::App& app);
void AddOverlap(CLI::App& app);
void AddVerify(CLI::App& app);
void AddAdvise(CLI::App& app);
void AddRebuild(CLI::App& app);

}  // namespace exactbloom::tool
