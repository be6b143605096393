// Which RocksDB the tests run with.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/version.h>

#include <string>
#include <tuple>

namespace exactbloom {

struct Version {
  int major;
  int minor;

  std::string Text() const { return std::to_string(major) + '.' + std::to_string(minor); }
  bool IsHere() const {
    return std::tie(major, minor) <= std::make_tuple(ROCKSDB_MAJOR, ROCKSDB_MINOR);
  }
};

}  // namespace exactbloom

// Skips the test if this RocksDB is older than the version that introduced `what`.
#define EXACTBLOOM_SKIP_BEFORE(version, what)                                      \
  if (!(version).IsHere()) {                                                       \
    GTEST_SKIP() << what << " needs RocksDB " << (version).Text() << " or later."; \
  }
