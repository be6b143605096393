// xxHash, inlined, so that neither this library nor its users link with libxxhash.
#pragma once

#define XXH_INLINE_ALL
// Built for a processor with AVX-512, XXH3 uses intrinsics that GCC 12 wrongly warns of.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <xxhash.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
