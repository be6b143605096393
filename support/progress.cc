#include "progress.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <string_view>

#include "errors.h"
#include "interruption.h"

namespace exactbloom::support {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(200);

constexpr std::string_view kErase = "\r\x1b[K";

std::atomic<bool> is_drawn{false};

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
    while (running_ && !IsEnding()) {
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
  is_drawn = true;
  WriteMessage(fmt::format("{}{}  {}  {:.0f} s", kErase, step_, share, seconds));
}

void Progress::End() {
  if (!painter_.joinable()) return;
  running_ = false;
  painter_.join();
  is_drawn = false;
  WriteMessage(std::string(kErase));
}

void EraseProgressLine() {
  pollfd terminal{STDERR_FILENO, POLLOUT, 0};
  if (!is_drawn || poll(&terminal, 1, 0) != 1) return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kErase.data(), kErase.size());
}

}  // namespace exactbloom::support
