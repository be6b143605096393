#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "errors.h"

namespace exactbloom::support {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(200);

// Other threads read it, so it is atomic; a signal handler may write it, so it takes no lock.
std::atomic<bool> interrupt_arrived{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void OnSignal(int /*signal*/) { interrupt_arrived = true; }

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { End(); }

void Progress::Begin(const std::string& step, std::uint64_t total) {
  End();
  step_ = step;
  total_ = total;
  done_ = 0;
  start_ = std::chrono::steady_clock::now();
  if (!terminal_) return;
  running_ = true;
  painter_ = std::thread([this] {
    while (running_) {
      Draw();
      std::this_thread::sleep_for(kRedrawInterval);
    }
  });
}

void Progress::Draw() {
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const std::string share = total_ > 0
                                ? fmt::format("{:3.0f}%", 100.0 * static_cast<double>(done_) /
                                                              static_cast<double>(total_))
                                : "";
  WriteMessage(fmt::format("\r\x1b[K{}  {}  {:.0f} s", step_, share, seconds));
}

void Progress::End() {
  if (!painter_.joinable()) return;
  running_ = false;
  painter_.join();
  WriteMessage("\r\x1b[K");
}

void WatchForInterrupts() {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

bool InterruptArrived() { return interrupt_arrived; }

void CheckForInterrupts() {
  if (InterruptArrived()) throw Interrupted();
}

}  // namespace exactbloom::support
