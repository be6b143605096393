#include "interruption.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "progress.h"

namespace exactbloom::support {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> is_ending{false};

struct TemporaryPaths {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed, since a signal may come while the program exits.
TemporaryPaths& AllTemporaryPaths() {
  static TemporaryPaths& all = *new TemporaryPaths;
  return all;
}

// RocksDB's threads may still be writing into a directory, which then cannot be removed.
void Remove(const std::string& path) {
  constexpr int kAttempts = 1000;
  std::error_code ignored;
  for (int i = 0; i < kAttempts && fs::exists(fs::symlink_status(path, ignored)); ++i) {
    fs::remove_all(path, ignored);
  }
}

[[noreturn]] void EndBy(int signal) {
  is_ending = true;
  EraseProgressLine();
  TemporaryPaths& temporary = AllTemporaryPaths();
  const std::lock_guard<std::mutex> lock(temporary.mutex);
  for (const std::string& path : temporary.paths) Remove(path);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
  // The first process of a container is not ended by it.
  constexpr int kStatusInShells = 128;
  _exit(kStatusInShells + signal);
}

}  // namespace

void EndOnSignals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);  // a shell's background process begins with SIGINT ignored
    sigaddset(&awaited, signal);
  }
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);  // in this thread and all that it makes
  std::thread([awaited] {
    int signal = 0;
    while (sigwait(&awaited, &signal) != 0) {
    }
    EndBy(signal);
  }).detach();
}

bool IsEnding() { return is_ending; }

TemporaryPath::TemporaryPath(std::string path) : path_(std::move(path)) {
  TemporaryPaths& temporary = AllTemporaryPaths();
  const std::lock_guard<std::mutex> lock(temporary.mutex);
  temporary.paths.insert(path_);
}

TemporaryPath::~TemporaryPath() {
  Remove(path_);
  TemporaryPaths& temporary = AllTemporaryPaths();
  const std::lock_guard<std::mutex> lock(temporary.mutex);
  temporary.paths.erase(path_);
}

}  // namespace exactbloom::support
