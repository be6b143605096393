// Union and intersection of Bloom filters, as blocks of bytes.
//
// Two filters of equal kind, bits, probes and hash seed give a key the same bits. So the bitwise OR
// of their arrays is the array that all keys of both would give, without any loss. The bitwise AND
// lets every shared key pass, and more absent keys than a filter of the shared keys alone, since
// keys of either filter leave bits that the other one has, too; its rate is at most that of either.
//
//   std::optional<FilterBlock> all = UnionOf(first.bytes(), second.bytes());
//
// One filter can so be built in several threads: each has a builder of its own, finishes it by the
// plan for all keys, and the union of the blocks is the filter (examples/parallel_build.cc). Tables
// of a database have filters of different sizes, which cannot be united.
//
// The functions throw std::bad_alloc when memory is short, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "exactbloom/filter.h"

namespace exactbloom {

// Returns the block of a filter that holds the keys of both.
//   first, second   blocks of equal kind, bits, probes and hash seed
//   keys            the number of all keys, which the block stores: with the true one it is, byte
//                   for byte, the block that one builder makes of all keys by the same plan.
//                   Without it the block stores the rounded estimate by moments (EstimateKeys) from
//                   the ones of the union, but at least the keys of the fuller filter, and at most
//                   the keys of both.
// Errors: nothing is returned if a block is not usable, as those of Ribbon filters, or if the two
// differ in kind, bits, probes or hash seed, or if the union cannot have so many keys: fewer than
// one of the two has, more than both have, or more than 2^53.
std::optional<FilterBlock> UnionOf(std::string_view first, std::string_view second,
                                   std::optional<std::uint64_t> keys = std::nullopt);

// Returns the block of a filter that every key of both passes. It stores an estimate of the number
// of shared keys: those of the first and of the second less those of their union, as above. A rate
// by that number is too low; FalsePositiveRateGivenFill of the ones of the block is right.
// Parameters and errors as above.
std::optional<FilterBlock> IntersectionOf(std::string_view first, std::string_view second);

}  // namespace exactbloom
