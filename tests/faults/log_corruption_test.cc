// What RocksDB makes of a write-ahead log with a wrong bit. That does not depend on the filter: the
// default recovery opens the database without the data behind the bit and without an error;
// kAbsoluteConsistency refuses to open it.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "configurations.h"
#include "expected_contents.h"
#include "fault_source.h"
#include "sample_database.h"

namespace exactbloom::faults {
namespace {

using rocksdb::WALRecoveryMode;
using std::filesystem::path;

constexpr std::uint64_t kKeys = 96;
constexpr std::uint64_t kFlips = 64;  // spread over the log

enum class Outcome { kIntact, kRefused, kLost };

class LogCorruption {
 public:
  explicit LogCorruption(const Configuration& configuration) : options_(configuration.Options()) {
    options_.avoid_flush_during_recovery = true;
    const Database db = Open(options_, directory_.path("db"));
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const std::string value = std::to_string(key);
      EXPECT_TRUE(db->Put({}, KeyOf(2 * key), value).ok());
      expected_.Acknowledge({{key, value}});
      if (key != kKeys / 2) continue;
      EXPECT_TRUE(db->Flush({}).ok());  // into a table with a filter, below the log
    }
  }

  std::vector<Outcome> Flip(WALRecoveryMode mode) {
    options_.wal_recovery_mode = mode;
    std::vector<Outcome> outcomes;
    for (std::uint64_t flip = 0; flip < kFlips; ++flip) outcomes.push_back(Flip(flip));
    return outcomes;
  }

 private:
  Outcome Flip(std::uint64_t flip) {
    const path copy = directory_.path("copy");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(directory_.path("db"), copy, std::filesystem::copy_options::recursive);
    path log;
    for (const auto& file : std::filesystem::directory_iterator(copy)) {
      if (FileKindOf(file.path().string()) == FileKind::kLog) log = file.path();
    }
    const std::uint64_t bit = flip * std::filesystem::file_size(log) * 8 / kFlips + flip % 8;
    std::fstream bytes(log, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(bit / 8));
    const int byte = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(bit / 8));
    bytes.put(static_cast<char>(byte ^ (1 << (bit % 8))));
    bytes.close();

    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(options_, copy.string(), &opened);
    if (!status.ok()) return Outcome::kRefused;
    const Database db(opened);
    return expected_.FindDifference(*db).empty() ? Outcome::kIntact : Outcome::kLost;
  }

  TemporaryDirectory directory_;
  rocksdb::Options options_;
  ExpectedContents expected_{kKeys};
};

TEST(LogCorruption, IsRocksDBsMatter) {
  LogCorruption ours({Layout{FilterKind::kClassic, 0}});
  LogCorruption theirs({});
  const auto by_default = theirs.Flip(WALRecoveryMode::kPointInTimeRecovery);
  EXPECT_EQ(by_default, std::vector<Outcome>(kFlips, Outcome::kLost));
  EXPECT_EQ(ours.Flip(WALRecoveryMode::kPointInTimeRecovery), by_default);
  const auto strictly = theirs.Flip(WALRecoveryMode::kAbsoluteConsistency);
  EXPECT_EQ(strictly, std::vector<Outcome>(kFlips, Outcome::kRefused));
  EXPECT_EQ(ours.Flip(WALRecoveryMode::kAbsoluteConsistency), strictly);
}

}  // namespace
}  // namespace exactbloom::faults
