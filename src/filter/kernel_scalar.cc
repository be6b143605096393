// The kernels in portable code.
#include "draw_kernel.h"
#include "equal_fields.h"
#include "kernel.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET

namespace exactbloom::filter {
namespace {

bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  for (int i = 0; i < used; ++i) {
    if (!TestBit(line, Field(word, i))) return false;
  }
  return true;
}

void SetFields(unsigned char* line, std::uint64_t word, int used, std::uint64_t next_word,
               int next_used) {
  for (int i = 0; i < used; ++i) SetBit(line, Field(word, i));
  for (int i = 0; i < next_used; ++i) SetBit(line, Field(next_word, i));
}

#include "line_kernel.inc"

}  // namespace

const Kernel& ScalarKernel(const FilterDescription& filter) {
  return filter.layout.lines == 0 ? DrawKernelFor(filter) : LineKernelFor(filter);
}

}  // namespace exactbloom::filter
