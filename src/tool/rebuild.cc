#include "subcommands.h"
namespace exactbloom::tool { void AddRebuild(CLI::App&) {} }
