// The filters whose bytes tests/golden keeps. Blocks of version 1 look like this for ever.
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

  // What today's builder makes of them.
  FilterBlock Build() const;
};

std::vector<GoldenBlock> GoldenBlocks();

// Prints the file's name, for messages of failing tests.
std::ostream& operator<<(std::ostream& out, const GoldenBlock& golden);

}  // namespace exactbloom
