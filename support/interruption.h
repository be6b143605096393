// How SIGINT and SIGTERM end a program: at once, whatever its threads do, such as computing,
// waiting for a pipe or running RocksDB. A thread of its own waits for them, removes what is
// temporary, and ends the program by the signal, so that shells see 130 or 143 and stop a loop
// around it.
#pragma once

#include <string>

namespace exactbloom::support {

// From now on. To be called before any other thread is made.
void EndOnSignals();

// Whether a signal is ending the program. What its threads do meanwhile may fail, since temporary
// files are gone.
bool IsEnding();

// A file or directory that the destructor removes, with all that is in it, and so does a signal.
class TemporaryPath {
 public:
  explicit TemporaryPath(std::string path);
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  const std::string& Path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace exactbloom::support
