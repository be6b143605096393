// Work on independent items, on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace exactbloom::tool {

// Calls `work` for 0 .. count - 1, each once, from `threads` threads, the calling one among them.
// Throws support::Interrupted when the user asked to stop, and what `work` throws; then some items
// are left out.
void ForEach(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace exactbloom::tool
