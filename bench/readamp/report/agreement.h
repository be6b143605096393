// Counts of the same thing, which must agree for a report to appear.
#pragma once

#include <string>

#include "readamp/readamp_settings.h"
#include "readamp_report.h"

namespace exactbloom::readamp {

// Compares what RocksDB counted, what the file system counted and what follows from the tree:
//   filter checks of absent keys     RocksDB's are the tree's
//   reads and bytes of table files   RocksDB's are the file system's; direct reads in whole pages
//   wasted reads                     the file system's are RocksDB's false positives, less those
//                                    that the block cache answered
//   false positives                  on a settled tree, where Prediction::decides: their rate is
//                                    the exact one, unless chance has done what it does once in 1.7
//                                    million measurements
// Reads while the tree changes are compared in the second only. Throws WrongAnswer, beginning with
// `run`.
void CheckAgreement(const WorkloadResult& result, const Settings& settings, const std::string& run);

}  // namespace exactbloom::readamp
