#include "key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

#include "errors.h"

namespace exactbloom::support {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

// A file that is open for reading, without waiting for its writers.
class KeyFile {
 public:
  KeyFile(const std::string& path, std::size_t most_bytes)
      : path_(path),
        most_bytes_(most_bytes),
        descriptor_(open(path == "-" ? "/dev/stdin" : path.c_str(),
                         O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    if (descriptor_ < 0) CannotRead(LastError());
  }
  ~KeyFile() { close(descriptor_); }
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  std::vector<std::string> Read() {
    CheckKind();
    std::array<char, std::size_t{1} << 16> buffer{};
    while (const std::size_t bytes = ReadSome(buffer.data(), buffer.size())) {
      for (std::string_view part(buffer.data(), bytes); !part.empty();) {
        const std::size_t end = part.find('\n');
        line_ += part.substr(0, end);
        if (line_.size() > kMostLineBytes) {
          Refuse(fmt::format("has a line of more than {} bytes", kMostLineBytes));
        }
        if (end == std::string_view::npos) break;
        AddLine();
        part.remove_prefix(end + 1);
      }
    }
    AddLine();
    if (keys_.empty()) Refuse("has no keys");
    return std::move(keys_);
  }

 private:
  [[noreturn]] void Refuse(const std::string& why) const {
    throw InputError(fmt::format("the key file {} {}", path_, why));
  }

  [[noreturn]] void CannotRead(const std::string& why) const {
    throw InputError(fmt::format("cannot read the key file {}: {}", path_, why));
  }

  static std::string LastError() {
    return std::error_code(errno, std::generic_category()).message();
  }

  void CheckKind() const {
    struct stat file {};
    if (fstat(descriptor_, &file) != 0) CannotRead(LastError());
    if (S_ISDIR(file.st_mode)) CannotRead("it is a directory");
    if (S_ISBLK(file.st_mode)) Refuse("has no keys: it is a block device");
    if (S_ISCHR(file.st_mode) && isatty(descriptor_) == 0) {
      Refuse("has no keys: it is a character device");
    }
    constexpr int kWaitForWriter = 1000;  // milliseconds
    if (S_ISFIFO(file.st_mode)) Await(kWaitForWriter);
  }

  // Waits until there are bytes to read, or the last writer is gone.
  void Await(int milliseconds) const {
    pollfd file{descriptor_, POLLIN, 0};
    poll(&file, 1, milliseconds);
  }

  // Returns 0 at the end, and where a FIFO has no writer.
  std::size_t ReadSome(char* buffer, std::size_t bytes) const {
    for (;;) {
      const ssize_t count = read(descriptor_, buffer, bytes);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno == EAGAIN) {
        constexpr int kForever = -1;
        Await(kForever);
      } else if (errno != EINTR) {
        CannotRead(LastError());
      }
    }
  }

  void AddLine() {
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (!line_.empty()) {
      held_bytes_ += sizeof line_ + line_.size();
      if (held_bytes_ > most_bytes_) {
        Refuse(fmt::format("has too many keys: the first {} are all that {} bytes hold",
                           keys_.size(), most_bytes_));
      }
      keys_.push_back(line_);
    }
    line_.clear();
  }

  const std::string path_;
  const std::size_t most_bytes_;
  const int descriptor_;
  std::string line_;
  std::vector<std::string> keys_;
  std::size_t held_bytes_ = 0;
};

}  // namespace

std::vector<std::string> ReadKeyFile(const std::string& path, std::size_t most_bytes) {
  return KeyFile(path, most_bytes).Read();
}

}  // namespace exactbloom::support
