#include "output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "support/errors.h"

namespace exactbloom {
namespace {

[[noreturn]] void ThrowCannotWrite(const std::string& path) {
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  throw support::InputError(fmt::format("cannot write {}: {}", path, reason));
}

}  // namespace

OutputFile::OutputFile(const std::string& path)
    : path_(path), unfinished_(fmt::format("{}.unfinished-{}", path, getpid())) {
  if (path.empty()) return;
  errno = 0;
  if (std::filesystem::is_directory(path)) {
    errno = EISDIR;
    ThrowCannotWrite(path);
  }
  file_.open(unfinished_.Path());
  if (!file_) ThrowCannotWrite(path);
}

void OutputFile::Commit(const std::string& text) {
  if (path_.empty()) return;
  errno = 0;
  file_ << text;
  file_.close();
  if (!file_) ThrowCannotWrite(path_);
  std::error_code error;
  std::filesystem::rename(unfinished_.Path(), path_, error);
  if (error) throw support::InputError(fmt::format("cannot write {}: {}", path_, error.message()));
}

}  // namespace exactbloom
