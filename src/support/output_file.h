// A file that appears whole or not at all.
#pragma once

#include <fstream>
#include <string>

namespace exactbloom::support {

class OutputFile {
 public:
  // Opens a neighbour of `path` for writing, so that an unwritable place is known before the work
  // is done. Throws InputError naming the path.
  explicit OutputFile(const std::string& path);
  // Removes the neighbour unless Commit was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Writes `text` and moves the file to its place. Throws InputError when that fails, as on a full
  // disk.
  void Commit(const std::string& text);

 private:
  std::string path_;
  std::string unfinished_path_;
  std::ofstream file_;
};

}  // namespace exactbloom::support
