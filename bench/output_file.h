// A file that appears whole or not at all.
#pragma once

#include <fstream>
#include <string>

namespace exactbloom {

class OutputFile {
 public:
  // Opens a file next to `path` for writing, so that an unwritable path fails before the work. With
  // an empty path nothing is written. Throws InputError naming the path.
  explicit OutputFile(const std::string& path);
  // Removes that file unless Commit was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Writes `text` and moves the file to its place. Throws InputError if that fails, as on a full
  // disk.
  void Commit(const std::string& text);

 private:
  std::string path_;
  std::string unfinished_path_;
  std::ofstream file_;
};

}  // namespace exactbloom
