// The machine and the libraries of a run, for the header of its report.
#pragma once

#include <string>

namespace exactbloom {

// The processor's name, and that of the kernel of ExactBloom's filters.
std::string DescribeCpu();

// The version of the RocksDB that the program was compiled against.
std::string RocksDBVersion();

}  // namespace exactbloom
