#include "run_command.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace exactbloom::testing {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

fs::path MakeTemporaryDirectory() {
  std::string path = (fs::temp_directory_path() / "exactbloom_test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
  return path;
}

Outcome RunCommand(const std::string& command, const fs::path& directory) {
  const fs::path out = directory / "out";
  const fs::path err = directory / "err";
  Outcome outcome;
  const int raw = std::system(
      fmt::format("{} >{} 2>{} </dev/null", command, out.string(), err.string()).c_str());
  outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  outcome.out = ReadFile(out);
  outcome.err = ReadFile(err);
  return outcome;
}

}  // namespace exactbloom::testing
