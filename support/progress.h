// A progress line on stderr, if that is a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace exactbloom::support {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Starts a step of `total` units; 0 if they cannot be counted.
  void Begin(const std::string& step, std::uint64_t total);
  void Add(std::uint64_t units) { done_.fetch_add(units, std::memory_order_relaxed); }
  // Removes the line.
  void End();

 private:
  void Draw();

  bool terminal_;
  std::string step_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::chrono::steady_clock::time_point start_;
  std::atomic<bool> running_{false};
  std::thread painter_;
};

// Removes the line, if there is one, in a program that is ending. Does not wait for the terminal.
void EraseProgressLine();

}  // namespace exactbloom::support
