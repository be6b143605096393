// xxHash, inlined, so that neither this library nor its users link with libxxhash.
#pragma once

#define XXH_INLINE_ALL
// Built for a processor with AVX-512, XXH3 uses intrinsics that GCC 12 wrongly warns of.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#ifdef EXACTBLOOM_XXHASH_FILE
#include EXACTBLOOM_XXHASH_FILE
#else
#include <xxhash.h>
#endif
#if XXH_VERSION_NUMBER < 800
#error "xxhash.h is older than 0.8; EXACTBLOOM_XXHASH_FILE can name another, as \"/path/xxhash.h\""
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
