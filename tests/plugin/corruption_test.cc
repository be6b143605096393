// Flipped bits in SSTables: each lookup is correct or returns an error.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "golden_tables.h"
#include "plugin/files/block_checksum.h"
#include "plugin/files/table_file.h"
#include "plugin/files/table_filter_blocks.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "src/filter/block_format.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

constexpr std::uint64_t kAbsent = kGoldenKeys - 1;

enum Outcome { kNotOpened, kFailedLookups, kUnfiltered, kFiltered, kOutcomes };
void Flip(std::string& bytes, std::uint64_t bit) {
  char& byte = bytes[bit / 8];
  byte = static_cast<char>(byte ^ (1 << bit % 8));
}

// Corrects a block's checksum for its present bytes.
void FitChecksum(std::string& file, const files::BlockHandle& block) {
  const std::uint64_t end = block.offset + block.size + 1;  // with the type of its compression
  const std::uint32_t checksum =
      files::BlockChecksum(rocksdb::kXXH3, {file.data() + block.offset, block.size + 1});
  for (unsigned i = 0; i < sizeof checksum; ++i) {
    file[end + i] = static_cast<char>(checksum >> 8 * i & 0xFF);
  }
}

// A database in memory, whose only table is the golden one.
class Corruption : public testing::TestWithParam<GoldenTable> {
 protected:
  void SetUp() override {
    const std::string golden = EXACTBLOOM_GOLDEN_TABLES + ("/7.8.3/" + GetParam().file);
    ASSERT_TRUE(rocksdb::ReadFileToString(rocksdb::Env::Default(), golden, &bytes_).ok());
    ASSERT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes_, kPath).ok());
    options_.env = env_.get();
    options_.info_log_level = rocksdb::FATAL_LEVEL;
    const Database db = Open(options_, "/db");
    ASSERT_TRUE(db->IngestExternalFile({kPath}, {}).ok());
    std::vector<rocksdb::LiveFileMetaData> tables;
    db->GetLiveFilesMetaData(&tables);
    table_ = tables.at(0).directory + tables[0].name;
    blocks_ = FilterBlocks();
    EXPECT_EQ(OutcomeOf(bytes_), kFiltered);
    useful_ = counts_.useful;
    EXPECT_GT(useful_, kAbsent * 95 / 100);
  }

  // Replaces the table's bytes, asks for present and absent keys, and expects each answer to be
  // correct or an error.
  Outcome OutcomeOf(const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, table_).ok());
    Database db;
    if (!rocksdb::DB::OpenForReadOnly(options_, "/db", Receive(&db)).ok()) return kNotOpened;
    TakeCounts(*db);
    std::uint64_t failed = 0;
    for (std::uint64_t number = 0; number < kGoldenKeys + kAbsent; ++number) {
      std::string value;
      const Status status = db->Get({}, KeyOf(number), &value);
      const bool present = number % 2 == 0;
      if (!status.ok() && !status.IsNotFound()) {
        EXPECT_TRUE(status.IsCorruption()) << status.ToString();
        ++failed;
        continue;
      }
      EXPECT_EQ(status.ok(), present) << KeyOf(number);
      EXPECT_EQ(value, present ? "value" : "") << KeyOf(number);
    }
    counts_ = TakeCounts(*db);
    if (failed != 0) return kFailedLookups;
    return counts_.useful >= useful_ ? kFiltered : kUnfiltered;
  }

  std::vector<files::BlockHandle> FilterBlocks() const {
    std::unique_ptr<files::TableFile> file;
    EXPECT_TRUE(files::TableFile::Open(*env_->GetFileSystem(), kPath, &file).ok());
    std::vector<files::IndexEntry> entries;
    EXPECT_TRUE(files::ListFilterBlocks(*file, files::FindFilter(*file), &entries).ok());
    std::vector<files::BlockHandle> blocks;
    for (const files::IndexEntry& entry : entries) blocks.push_back(entry.handle);
    return blocks;
  }

  // Of a filter block of the undamaged table.
  std::uint64_t TrailerBytesOf(const files::BlockHandle& block) const {
    return filter::TrailerBytesOf({bytes_.data() + block.offset, block.size});
  }

  const std::string kPath = "/golden.sst";
  const std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  rocksdb::Options options_ = GetParam().OptionsWith(NewPolicy(GetParam().layout));
  std::string bytes_;
  std::string table_;
  std::vector<files::BlockHandle> blocks_;
  FilterCounts counts_;       // of the last OutcomeOf
  std::uint64_t useful_ = 0;  // with undamaged bytes
};

INSTANTIATE_TEST_SUITE_P(Tables, Corruption, testing::ValuesIn(GoldenTables()),
                         [](const auto& test) {
                           return test.param.file.substr(0, test.param.file.find('.'));
                         });

// As from a faulty writer: RocksDB's checksum is correct, so the filter is asked.
TEST_P(Corruption, OfABitOfTheTrailerMatchesAllWhereTheChecksumFits) {
  const PolicyPointer stock(rocksdb::NewBloomFilterPolicy(10));
  const std::uint64_t trailer_bits = 8 * TrailerBytesOf(blocks_.front());
  constexpr std::uint64_t kStep = 9;  // a bit of each byte; block_format_test flips all
  for (std::uint64_t bit = 0; bit < trailer_bits; bit += kStep) {
    std::string bytes = bytes_;
    for (const files::BlockHandle& block : blocks_) {
      ASSERT_EQ(8 * TrailerBytesOf(block), trailer_bits);
      Flip(bytes, 8 * (block.offset + block.size) - trailer_bits + bit);
      FitChecksum(bytes, block);
      const std::unique_ptr<rocksdb::FilterBitsReader> reader(
          stock->GetFilterBitsReader({bytes.data() + block.offset, block.size}));
      for (std::uint64_t i = 0; i < 32; ++i) EXPECT_TRUE(reader->MayMatch(KeyOf(i))) << i;
    }
    ASSERT_EQ(OutcomeOf(bytes), kUnfiltered) << "bit " << bit;
    ASSERT_EQ(counts_.useful, 0U) << "bit " << bit;
    ASSERT_EQ(counts_.FalsePositives(), kAbsent) << "bit " << bit << ": not asked";
  }
}

// A cleared bit of the array may lose a key; RocksDB's checksum, which is not corrected here,
// prevents that. EXACTBLOOM_TEST_LARGE=1 flips 100,000 bits, which takes minutes.
TEST_P(Corruption, OfAnyBitIsAnErrorOrHarmless) {
  const std::uint64_t tables = GoldenTables().size();
  const bool large = std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr;
  const std::uint64_t flips = (large ? 100'000 : 800) / tables / 2 + 1;
  std::mt19937_64 random(8);
  const auto spread = [&](std::uint64_t i, std::uint64_t bits) {
    const double position = static_cast<double>(i) + std::uniform_real_distribution<>()(random);
    return std::min(bits - 1, static_cast<std::uint64_t>(position / static_cast<double>(flips) *
                                                         static_cast<double>(bits)));
  };
  std::vector<std::uint64_t> array_bits;
  for (const files::BlockHandle& block : blocks_) {
    const std::uint64_t array_bytes = block.size - TrailerBytesOf(block);
    for (std::uint64_t bit = 0; bit < 8 * array_bytes; ++bit) {
      array_bits.push_back(8 * block.offset + bit);
    }
  }
  std::array<std::uint64_t, kOutcomes> of_array{};
  std::array<std::uint64_t, kOutcomes> of_file{};
  for (std::uint64_t i = 0; i < flips; ++i) {
    std::string bytes = bytes_;
    Flip(bytes, array_bits[spread(i, array_bits.size())]);
    ++of_array[OutcomeOf(bytes)];
    bytes = bytes_;
    Flip(bytes, spread(i, 8 * bytes.size()));
    ++of_file[OutcomeOf(bytes)];
  }
  EXPECT_EQ(of_array[kFiltered], 0U) << "a damaged filter was used";
  EXPECT_EQ(of_array[kUnfiltered], flips) << "RocksDB does without a filter that it cannot read";
  EXPECT_GT(of_file[kFailedLookups], flips / 3);  // data blocks
}

}  // namespace
}  // namespace exactbloom
