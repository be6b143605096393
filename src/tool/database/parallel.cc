#include "parallel.h"

#include <atomic>
#include <future>
#include <vector>

#include "support/progress.h"

namespace exactbloom::tool {

void ForEach(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    while (!support::InterruptArrived()) {
      const std::size_t item = next.fetch_add(1);
      if (item >= count) return;
      work(item);
    }
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void>& other : others) other.get();
  support::CheckForInterrupts();
}

}  // namespace exactbloom::tool
