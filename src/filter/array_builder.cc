#include "array_builder.h"

#include <cstring>

#include "block_format.h"
#include "kernels/kernel_table.h"

namespace exactbloom::filter {

void BuildArrayDirectly(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  std::memset(array, 0, static_cast<std::size_t>(ArrayBytes(filter.bits)));
  const Kernel& kernel = KernelFor(filter);
  hashes.Consume([&](const std::uint64_t* chunk, std::size_t count) {
    kernel.add(array, filter, chunk, count);
  });
}

void BuildArrayByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  const bool is_built = filter.layout.InLines() ? BuildLinesByRange(array, filter, hashes)
                                                : BuildDrawsByRange(array, filter, hashes);
  if (!is_built) BuildArrayDirectly(array, filter, hashes);
}

void BuildArray(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  if (ArrayBytes(filter.bits) <= DirectArrayBytes(filter.layout)) {
    BuildArrayDirectly(array, filter, hashes);
  } else {
    BuildArrayByRange(array, filter, hashes);
  }
}

}  // namespace exactbloom::filter
