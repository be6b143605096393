// Memory that runs short on demand.
#pragma once

namespace exactbloom {

// While it is true, `new` throws std::bad_alloc.
extern bool memory_is_short;

}  // namespace exactbloom
