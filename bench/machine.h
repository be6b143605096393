// The machine, the libraries and the processor time of a run, for the header of its report.
#pragma once

#include <string>

namespace exactbloom {

// The processor's name and those of its vector extensions that matter to filters.
std::string DescribeCpu();

// The version of the RocksDB that the program was compiled against.
std::string RocksDBVersion();

// The processor time of this process so far, over all of its threads.
double ProcessCpuMicroseconds();

}  // namespace exactbloom
