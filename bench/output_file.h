// A file that appears whole or not at all, also if a signal ends the program.
#pragma once

#include <fstream>
#include <string>

#include "support/interruption.h"

namespace exactbloom {

class OutputFile {
 public:
  // Opens a file next to `path` for writing, so that an unwritable path fails before the work. With
  // an empty path nothing is written. Throws InputError naming the path.
  explicit OutputFile(const std::string& path);

  // Writes `text` and moves the file to its place. Throws InputError if that fails, as on a full
  // disk.
  void Commit(const std::string& text);

 private:
  std::string path_;
  support::TemporaryPath unfinished_;
  std::ofstream file_;
};

}  // namespace exactbloom
