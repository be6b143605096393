// The filters whose bytes are in tests/golden. They never change.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"

namespace exactbloom {

struct GoldenBlock {
  std::string file;
  BloomFilterBuilder::Options options;
  std::vector<std::string> keys;

  // The block that the present builder makes.
  FilterBlock Build() const;
};

std::vector<GoldenBlock> GoldenBlocks();

// Prints the file's name, for messages of failing tests.
std::ostream& operator<<(std::ostream& out, const GoldenBlock& golden);

}  // namespace exactbloom
