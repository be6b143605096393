#include "regular_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

namespace exactbloom::files {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using rocksdb::Status;

constexpr std::uint64_t kMostBytesOfALog = std::uint64_t{64} << 30;
constexpr std::uint64_t kMostBytesOfAText = std::uint64_t{64} << 20;

IOStatus LastError(const std::string& path) {
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  return errno == ENOENT ? IOStatus::PathNotFound(path, reason) : IOStatus::IOError(path, reason);
}

const char* KindOf(const struct stat& file) {
  if (S_ISFIFO(file.st_mode)) return "a FIFO";
  if (S_ISCHR(file.st_mode)) return "a character device";
  if (S_ISBLK(file.st_mode)) return "a block device";
  if (S_ISDIR(file.st_mode)) return "a directory";
  if (S_ISSOCK(file.st_mode)) return "a socket";
  return S_ISREG(file.st_mode) ? nullptr : "of an unknown kind";
}

IOStatus CheckKind(const std::string& path, const struct stat& file) {
  const char* kind = KindOf(file);
  if (kind == nullptr) return IOStatus::OK();
  return IOStatus::IOError(path, std::string("not a regular file but ") + kind);
}

IOStatus CheckSize(const std::string& path, std::uint64_t bytes, std::uint64_t most) {
  if (bytes <= most) return IOStatus::OK();
  return IOStatus::IOError(path, std::to_string(bytes) + " bytes are more than the " +
                                     std::to_string(most) + " that are read of such a file");
}

// A regular file that is open for reading.
class OpenFile {
 public:
  OpenFile() = default;
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // What is at the path may be replaced at any time, so the open file is looked at. It is opened
  // without waiting, and so are files of /proc read, which may wait as a FIFO does.
  IOStatus Open(const std::string& path) {
    path_ = path;
    struct stat file {};
    descriptor_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) {
      const IOStatus error = LastError(path);
      // A socket cannot be opened.
      const IOStatus kind = stat(path.c_str(), &file) == 0 ? CheckKind(path, file) : error;
      return kind.ok() ? error : kind;
    }
    if (fstat(descriptor_, &file) != 0) return LastError(path);
    bytes_ = static_cast<std::uint64_t>(file.st_size);
    return CheckKind(path, file);
  }

  std::uint64_t Bytes() const { return bytes_; }

  IOStatus Read(std::uint64_t offset, std::size_t count, Slice* result, char* scratch) const {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes_ - std::min(offset, bytes_)));
    std::size_t done = 0;
    *result = Slice(scratch, 0);
    while (done < wanted) {
      const ssize_t part =
          pread(descriptor_, scratch + done, wanted - done, static_cast<off_t>(offset + done));
      if (part < 0 && errno == EINTR) continue;
      if (part < 0) return LastError(path_);
      if (part == 0) break;  // it was cut off meanwhile
      done += static_cast<std::size_t>(part);
    }
    *result = Slice(scratch, done);
    return IOStatus::OK();
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

class RandomAccessFile : public rocksdb::FSRandomAccessFile {
 public:
  IOStatus Open(const std::string& path) { return file_.Open(path); }

  IOStatus Read(std::uint64_t offset, std::size_t count, const IOOptions& /*options*/,
                Slice* result, char* scratch, IODebugContext* /*debug*/) const override {
    return file_.Read(offset, count, result, scratch);
  }

 private:
  OpenFile file_;
};

class SequentialFile : public rocksdb::FSSequentialFile {
 public:
  IOStatus Open(const std::string& path) {
    const IOStatus status = file_.Open(path);
    return status.ok() ? CheckSize(path, file_.Bytes(), MostBytesOf(path)) : status;
  }

  IOStatus Read(std::size_t count, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*debug*/) override {
    const IOStatus status = file_.Read(offset_, count, result, scratch);
    offset_ += result->size();
    return status;
  }

  IOStatus Skip(std::uint64_t count) override {
    offset_ += std::min(count, file_.Bytes() - std::min(offset_, file_.Bytes()));
    return IOStatus::OK();
  }

 private:
  static std::uint64_t MostBytesOf(const std::string& path) {
    const Slice name(path.data() + path.rfind('/') + 1);  // of the whole path without a slash
    return name.starts_with("MANIFEST-") || name.ends_with(".log") ? kMostBytesOfALog
                                                                   : kMostBytesOfAText;
  }

  OpenFile file_;
  std::uint64_t offset_ = 0;
};

template <typename File, typename Interface>
IOStatus OpenAs(const std::string& path, std::unique_ptr<Interface>* result) {
  auto file = std::make_unique<File>();
  const IOStatus status = file->Open(path);
  if (status.ok()) *result = std::move(file);
  return status;
}

class RegularFileSystem : public rocksdb::FileSystemWrapper {
 public:
  RegularFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "exactbloom.RegularFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext* /*debug*/) override {
    return OpenAs<SequentialFile>(path, file);
  }

  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* /*debug*/) override {
    return OpenAs<RandomAccessFile>(path, file);
  }
};

}  // namespace

const std::shared_ptr<rocksdb::FileSystem>& RegularFiles() {
  static const auto& files =
      *new std::shared_ptr<rocksdb::FileSystem>(std::make_shared<RegularFileSystem>());
  return files;
}

rocksdb::Env* RegularFilesEnv() {
  static rocksdb::Env* const env = rocksdb::NewCompositeEnv(RegularFiles()).release();
  return env;
}

Status ReadBothEnds(const std::string& path, std::string* text) {
  constexpr std::uint64_t kBytesOfAnEnd = std::uint64_t{32} << 20;
  text->clear();
  OpenFile file;
  Status status = file.Open(path);
  if (status.ok()) status = CheckSize(path, file.Bytes(), kMostBytesOfALog);
  if (!status.ok()) return status;
  const std::uint64_t head = std::min(file.Bytes(), kBytesOfAnEnd);
  const std::uint64_t tail = std::min(file.Bytes() - head, kBytesOfAnEnd);
  text->resize(static_cast<std::size_t>(head + tail));
  Slice first;
  Slice last;
  status = file.Read(0, static_cast<std::size_t>(head), &first, text->data());
  if (!status.ok()) return status;
  status = file.Read(file.Bytes() - tail, static_cast<std::size_t>(tail), &last,
                     text->data() + first.size());
  text->resize(first.size() + last.size());
  return status;
}

Status ReadLines(const std::string& path, const std::function<bool(const std::string&)>& visit) {
  constexpr std::size_t kMostBytesOfALine = std::size_t{1} << 20;
  OpenFile file;
  Status status = file.Open(path);
  if (status.ok()) status = CheckSize(path, file.Bytes(), kMostBytesOfALog);
  std::string part(kMostBytesOfALine, '\0');
  std::string line;
  Slice read;
  for (std::uint64_t offset = 0; status.ok(); offset += read.size()) {
    status = file.Read(offset, part.size(), &read, part.data());
    if (!status.ok() || read.empty()) break;
    for (const char c : read.ToStringView()) {
      if (c != '\n' && line.size() < kMostBytesOfALine) {
        line += c;
      } else {
        if (!visit(line)) return status;
        line.assign(c == '\n' ? 0 : 1, c);
      }
    }
  }
  if (status.ok() && !line.empty()) visit(line);
  return status;
}

}  // namespace exactbloom::files
