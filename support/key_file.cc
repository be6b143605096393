#include "key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "errors.h"

namespace exactbloom::support {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{1} << 20;

// The value of a hexadecimal digit; -1 for other characters.
int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The bytes that hexadecimal digits stand for; false if the text is none.
bool ReadHex(std::string_view text, std::string* bytes) {
  if (text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
  }
  bytes->clear();
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = DigitOf(text[i]);
    const int low = DigitOf(text[i + 1]);
    if (high < 0 || low < 0) return false;
    *bytes += static_cast<char>(16 * high + low);
  }
  return text.size() % 2 == 0;
}

// A file that is open for reading, without waiting for its writers.
class KeyFile {
 public:
  KeyFile(const std::string& path, KeyFormat format, std::size_t most_bytes)
      : path_(path),
        format_(format),
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
      TakeLines({buffer.data(), bytes});
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

  void TakeLines(std::string_view part) {
    while (!part.empty()) {
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

  void AddLine() {
    ++lines_;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (line_.empty()) return;
    if (format_ == KeyFormat::kText) {
      AddKey(line_);
    } else {
      std::string key;
      if (!ReadHex(line_, &key)) {
        Refuse(fmt::format("has no pairs of hexadecimal digits in line {}", lines_));
      }
      AddKey(std::move(key));
    }
    line_.clear();
  }

  void AddKey(std::string key) {
    held_bytes_ += sizeof key + key.size();
    if (held_bytes_ > most_bytes_) {
      Refuse(fmt::format("has too many keys: the first {} are all that {} bytes hold", keys_.size(),
                         most_bytes_));
    }
    keys_.push_back(std::move(key));
  }

  const std::string path_;
  const KeyFormat format_;
  const std::size_t most_bytes_;
  const int descriptor_;
  std::string line_;  // that is not read to its end
  std::uint64_t lines_ = 0;
  std::vector<std::string> keys_;
  std::size_t held_bytes_ = 0;
};

}  // namespace

std::vector<std::string> ReadKeyFile(const std::string& path, KeyFormat format,
                                     std::size_t most_bytes) {
  return KeyFile(path, format, most_bytes).Read();
}

}  // namespace exactbloom::support
