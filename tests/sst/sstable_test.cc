// Table files written by hand: all kinds of footers and filter blocks, and damaged ones. The fuzzer
// of SSTables changes the bytes of tables that RocksDB wrote.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter.h"
#include "sample_database.h"
#include "src/filter/block_format.h"
#include "src/filter/ribbon/ribbon_format.h"
#include "sst/block_checksum.h"
#include "sst/block_description.h"
#include "sst/entry_block.h"
#include "sst/table_filters.h"
#include "varint.h"

namespace exactbloom {
namespace {

// A block of one entry.
std::string EntryBlock(const std::string& key, const std::string& value) {
  return Varint(0) + Varint(key.size()) + Varint(value.size()) + key + value +
         Fixed<std::uint32_t>(0) + Fixed<std::uint32_t>(1);
}

// A table with a filter and nothing else, written by hand.
struct HandmadeTable {
  std::uint32_t version = 5;
  std::string metaindex_name = "fullfilter.rocksdb.BuiltinBloomFilter";
  std::string metaindex;  // empty: one entry
  std::string filter;
  std::uint32_t base_checksum = 0;
  std::uint64_t reserved = 0;  // of a footer with a checksum

  std::string Bytes() const {
    const std::string handle = Varint(0) + Varint(filter.size());
    const std::string entries = metaindex.empty() ? EntryBlock(metaindex_name, handle) : metaindex;
    std::string file = Block(filter, 0);
    const std::uint64_t metaindex_offset = file.size();
    file += Block(entries, metaindex_offset);
    if (version >= 6) return file + FooterWithChecksum(entries.size(), file.size());
    std::string handles = Varint(metaindex_offset) + Varint(entries.size()) + Varint(0) + Varint(0);
    handles.resize(40);
    if (version == 0) return file + handles + Fixed<std::uint64_t>(0xdb4775248b80fb57U);
    return file + '\1' + handles + Fixed(version) + Fixed<std::uint64_t>(0x88e241b785f4cff7U);
  }

 private:
  // CRC32C is the checksum of all of them, since version 0 has no other.
  std::string Block(const std::string& contents, std::uint64_t offset) const {
    const std::string bytes = contents + '\0';
    return bytes + Fixed(files::BlockChecksum(rocksdb::kCRC32c, bytes) +
                         files::ChecksumOfPlace(base_checksum, offset));
  }

  std::string FooterWithChecksum(std::uint64_t metaindex_size, std::uint64_t offset) const {
    const std::string head = std::string("\1\x3e\0\x7a\0", 5);
    const std::string tail = Fixed(base_checksum) +
                             Fixed(static_cast<std::uint32_t>(metaindex_size)) +
                             std::string(16, '\0') + Fixed(reserved) + Fixed(version) +
                             Fixed<std::uint64_t>(0x88e241b785f4cff7U);
    const std::uint32_t checksum =
        files::BlockChecksum(rocksdb::kCRC32c, head + Fixed<std::uint32_t>(0) + tail) +
        files::ChecksumOfPlace(base_checksum, offset);
    return head + Fixed(checksum) + tail;
  }
};

class TableFileTest : public testing::Test {
 protected:
  TableFilter Read(const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, kPath).ok());
    TableFilter filter;
    EXPECT_EQ(ReadTableFilter(*env_->GetFileSystem(), kPath, &filter), filter.status);
    return filter;
  }

  void ExpectError(const std::string& bytes, const std::string& error) {
    EXPECT_EQ(Read(bytes).status.ToString(), error);
  }

  const std::string kPath = "/table.sst";
  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
};

std::string OurBlock() {
  FilterBuilder builder = *FilterBuilder::Create({});
  builder.AddKey("apple");
  return std::string(builder.Finish().bytes());
}

std::string OurRibbonBlock() {
  FilterBuilder builder = *FilterBuilder::Create({});
  for (int i = 0; i < 1000; ++i) builder.AddKey(std::to_string(i));
  return std::string(builder.Finish().bytes());
}

TEST_F(TableFileTest, FootersOfAllVersions) {
  for (const std::uint32_t version : {0U, 1U, 5U, 6U, 7U}) {
    HandmadeTable table;
    table.version = version;
    table.filter = OurBlock();
    table.base_checksum = version >= 6 ? 0x12345678 : 0;
    const TableFilter filter = Read(table.Bytes());
    EXPECT_TRUE(filter.status.ok()) << version << ": " << filter.status.ToString();
    EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
    EXPECT_EQ(filter.keys, 1U);
  }
  HandmadeTable later;
  later.version = 8;
  EXPECT_TRUE(Read(later.Bytes()).status.IsNotSupported());
  HandmadeTable later_feature;
  later_feature.version = 7;
  later_feature.reserved = 1;
  ExpectError(later_feature.Bytes(),
              "Not implemented: /table.sst: the table uses a later feature of its format");
}

TEST_F(TableFileTest, ChecksumOfAFooterAndOfAPlace) {
  HandmadeTable table;
  table.version = 6;
  table.base_checksum = 0x12345678;
  table.filter = OurBlock();
  const std::string bytes = table.Bytes();
  for (std::size_t i = bytes.size() - 53; i < bytes.size() - 8; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(Read(damaged).status.ok()) << "byte " << i << " of " << bytes.size();
  }
  // The same blocks one byte further on.
  EXPECT_TRUE(Read(' ' + bytes).status.IsCorruption());
}

TEST_F(TableFileTest, BlocksByTheirTrailers) {
  const std::string array(128, 'x');
  struct Case {
    std::string block;
    FilterFamily family;
    std::string reason;
  };
  std::string damaged = OurBlock();
  damaged[damaged.size() - filter::kProbesFromEnd] ^= 1;
  std::string later = OurBlock();
  later.back() = 9;
  // Its checksum is right, but there are no slots without shards.
  filter::RibbonShape shape;
  shape.slots = 64;
  shape.columns = 1;
  std::string damaged_ribbon(filter::RibbonBlockBytes(shape, 5, 0), 'x');
  filter::EncodeRibbonTrailer(shape, 5, 0, reinterpret_cast<unsigned char*>(damaged_ribbon.data()));
  const std::vector<Case> cases = {
      {"", FilterFamily::kEmpty, ""},
      {"12345", FilterFamily::kEmpty, ""},
      {array + std::string("\xff\0\6\0\0", 5), FilterFamily::kBloom, ""},
      {array + std::string("\xff\1\6\0\0", 5), FilterFamily::kUnknown,
       "a Bloom filter of a later RocksDB"},
      {array + std::string("\xfe\7\x08\0\0", 5), FilterFamily::kRibbon, ""},
      {array + std::string("\xfe\7\x01\0\0", 5), FilterFamily::kUnknown,
       "a Ribbon filter of a later RocksDB"},
      {array + std::string("\6\2\0\0\0", 5), FilterFamily::kLegacyBloom, ""},
      {array + std::string("\6\3\0\0\0", 5), FilterFamily::kUnknown, "a damaged Bloom filter"},
      {array + std::string("\0\2\0\0\0", 5), FilterFamily::kUnknown,
       "a block that lets all keys pass"},
      {array + std::string("\x80\2\0\0\0", 5), FilterFamily::kUnknown,
       "a filter of a later RocksDB"},
      {OurBlock(), FilterFamily::kExactBloom, ""},
      {damaged, FilterFamily::kUnknown, "a damaged ExactBloom block"},
      {OurRibbonBlock(), FilterFamily::kExactRibbon, ""},
      {damaged_ribbon, FilterFamily::kUnknown, "a damaged ExactBloom block"},
      {later, FilterFamily::kUnknown, "an ExactBloom block of another version"}};
  for (const Case& each : cases) {
    HandmadeTable table;
    table.filter = each.block;
    const TableFilter filter = Read(table.Bytes());
    EXPECT_TRUE(filter.status.ok()) << filter.status.ToString();
    EXPECT_STREQ(NameOf(filter.family), NameOf(each.family)) << each.reason;
    EXPECT_EQ(filter.reason, each.reason);
  }
}

TEST_F(TableFileTest, OfOurRibbonFilter) {
  HandmadeTable table;
  table.filter = OurRibbonBlock();
  const TableFilter filter = Read(table.Bytes());
  const FilterView view(table.filter);
  EXPECT_EQ(filter.keys, 1000U);
  EXPECT_EQ(filter.ribbon_slots, view.Description().slots);
  EXPECT_EQ(filter.bytes, table.filter.size());
  EXPECT_EQ(filter.max_probes, 0);
  EXPECT_EQ(DescribeFilterBlock(table.filter).ribbon_rate, view.FalsePositiveRate());
}

TEST_F(TableFileTest, OfOtherPoliciesAndForms) {
  HandmadeTable table;
  table.filter = OurBlock();
  table.metaindex_name = "fullfilter.theirs";
  EXPECT_EQ(Read(table.Bytes()).reason, "a filter of the policy theirs");
  table.metaindex_name = "filter.rocksdb.BuiltinBloomFilter";
  EXPECT_STREQ(NameOf(Read(table.Bytes()).family), "block_based");
  table.metaindex_name = "rocksdb.something";
  EXPECT_EQ(Read(table.Bytes()).family, FilterFamily::kNone);
}

TEST_F(TableFileTest, AnIndexWithOnePartitionOverAndOverOrATooShortKey) {
  HandmadeTable table;
  table.metaindex_name = "partitionedfilter.rocksdb.BuiltinBloomFilter";
  constexpr std::uint64_t kEntries = 100;
  constexpr std::uint64_t kBytes = 15 * kEntries + 8;  // of the index, which names itself
  const std::string key = "k" + Fixed<std::uint64_t>(0);
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    table.filter += Varint(0) + Varint(key.size()) + Varint(3) + key + Varint(0) + Varint(kBytes);
  }
  table.filter += Fixed<std::uint32_t>(0) + Fixed<std::uint32_t>(1);
  ASSERT_EQ(table.filter.size(), kBytes);
  ExpectError(table.Bytes(), "Corruption: /table.sst: partitions overlap");
  // Such an index has a sequence number behind each key.
  table.filter = EntryBlock("short", Varint(0) + Varint(0));
  ExpectError(table.Bytes(), "Corruption: /table.sst: a wrong key in the index of partitions");
}

TEST_F(TableFileTest, ErrorsNameFileAndPlace) {
  HandmadeTable table;
  table.filter = OurBlock();
  std::string bytes = table.Bytes();
  bytes[0] ^= 1;
  ExpectError(bytes, "Corruption: /table.sst: the block of " + std::to_string(table.filter.size()) +
                         " bytes at 0 has a wrong checksum");
  ExpectError(std::string(1000, 'x'), "Not implemented: /table.sst: not a block-based table");
  ExpectError("short",
              "Corruption: /table.sst: the footer of the table is damaged: the file is too short");
  TableFilter filter;
  EXPECT_FALSE(ReadTableFilter(*env_->GetFileSystem(), "/nowhere.sst", &filter).ok());
}

// The most memory that this process has had.
std::uint64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::uint64_t{1024} * static_cast<std::uint64_t>(usage.ru_maxrss);
}

// Entries whose keys share all but a few bytes with the one before, and are long. Written out, they
// would take 400 MB.
TEST_F(TableFileTest, KeysThatShareALongPrefixTakeNoMemory) {
  constexpr std::uint64_t kShared = 40'000;
  constexpr std::uint64_t kEntries = 10'000;
  constexpr std::uint64_t kMuch = std::uint64_t{100} << 20;
  // An empty block, which lies in the first key of the index; all partitions are it.
  const std::string type(1, rocksdb::kNoCompression);
  const std::string empty = type + Fixed(files::BlockChecksum(rocksdb::kCRC32c, type));
  const std::string handle = Varint(5) + Varint(0);
  const auto block = [&](const std::string& name, bool is_index) {
    const std::string first = name + empty + std::string(kShared, 'k');
    std::string entries = Varint(0) + Varint(first.size()) + Varint(handle.size()) + first + handle;
    for (std::uint64_t i = 0; i < kEntries; ++i) {
      const std::string rest = is_index ? Fixed(i) : Fixed(static_cast<std::uint32_t>(i));
      entries += Varint(first.size()) + Varint(rest.size()) + Varint(handle.size()) + rest + handle;
    }
    return entries + Fixed<std::uint32_t>(0) + Fixed<std::uint32_t>(1);
  };
  const std::uint64_t before = PeakBytes();
  HandmadeTable index;
  index.metaindex_name = "partitionedfilter.rocksdb.BuiltinBloomFilter";
  index.filter = block("", true);
  const TableFilter filter = Read(index.Bytes());
  EXPECT_TRUE(filter.status.ok()) << filter.status.ToString();
  EXPECT_EQ(filter.blocks, kEntries + 1);

  const std::string kTooLong =
      "Corruption: /table.sst: a block of the table is damaged: the names in it are too long";
  HandmadeTable properties;
  properties.metaindex_name = "rocksdb.properties";
  properties.filter = block("p", false);
  ExpectError(properties.Bytes(), kTooLong);

  HandmadeTable metaindex;
  metaindex.metaindex = block("fullfilter.", false);
  ExpectError(metaindex.Bytes(), kTooLong);
  EXPECT_LT(PeakBytes() - before, kMuch);
}

TEST_F(TableFileTest, BlocksAreNoLargerThanThoseOfTheirKind) {
  constexpr std::size_t kMostOfAFilter = std::size_t{1} << 20;  // of no keys
  constexpr std::size_t kMostOfNames = std::size_t{64} << 20;
  HandmadeTable table;
  table.filter = std::string(kMostOfAFilter, 'x');
  EXPECT_TRUE(Read(table.Bytes()).status.ok());
  table.filter += 'x';
  ExpectError(table.Bytes(),
              "Corruption: /table.sst: the block of 1048577 bytes at 0 has more than 1048576");
  table.filter = "";
  table.metaindex = std::string(kMostOfNames + 1, 'x');
  ExpectError(table.Bytes(),
              "Corruption: /table.sst: the block of 67108865 bytes at 5 has more than 67108864");
  for (const char* name : {"rocksdb.properties", "partitionedfilter.rocksdb.BuiltinBloomFilter"}) {
    table.metaindex = "";
    table.metaindex_name = name;
    table.filter = std::string(kMostOfNames + 1, 'x');
    ExpectError(table.Bytes(),
                "Corruption: /table.sst: the block of 67108865 bytes at 0 has more than 67108864");
  }
}

}  // namespace
}  // namespace exactbloom
