// What a table file says of itself and of its filter, in tables written by hand.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter.h"
#include "sst/block_checksum.h"
#include "sst/table_file.h"
#include "sst/table_filter_blocks.h"
#include "sst/table_filters.h"
#include "varint.h"

namespace exactbloom {
namespace {

using Properties = std::map<std::string, std::string>;

std::string EntriesOf(const std::map<std::string, std::string>& entries) {
  std::string bytes;
  for (const auto& [key, value] : entries) {
    bytes += Varint(0) + Varint(key.size()) + Varint(value.size()) + key + value;
  }
  return bytes + Fixed(std::uint32_t{0}) + Fixed(std::uint32_t{1});
}

class TableWriter {
 public:
  // Returns the handle of the block.
  std::string Add(const std::string& contents, char type = rocksdb::kNoCompression) {
    const std::string handle = Varint(bytes_.size()) + Varint(contents.size());
    const std::string block = contents + type;
    bytes_ += block + Fixed(files::BlockChecksum(rocksdb::kCRC32c, block));
    return handle;
  }

  void AddMeta(const std::string& name, const std::string& contents) {
    metaindex_[name] = Add(contents);
  }

  void AddHandle(const std::string& name, const std::string& handle) { metaindex_[name] = handle; }

  std::size_t Size() const { return bytes_.size(); }

  std::string Finish() {
    std::string handles = Add(EntriesOf(metaindex_));
    handles.resize(40);
    constexpr std::uint64_t kMagic = 0x88e241b785f4cff7U;
    return bytes_ + '\1' + handles + Fixed(std::uint32_t{5}) + Fixed(kMagic);
  }

 private:
  std::string bytes_;
  std::map<std::string, std::string> metaindex_;
};

constexpr char kProperties[] = "rocksdb.properties";
constexpr char kFull[] = "fullfilter.rocksdb.BuiltinBloomFilter";
constexpr char kPartitioned[] = "partitionedfilter.rocksdb.BuiltinBloomFilter";

std::string Block(FilterKind kind, std::uint64_t keys, std::uint64_t seed = 0,
                  double bits_per_key = 10.0) {
  FilterOptions options;
  options.kind = kind;
  options.hash_seed = seed;
  options.bits_per_key = bits_per_key;
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(std::to_string(i));
  return std::string(builder.Finish().bytes());
}

std::string Array(const std::string& trailer) { return std::string(128, 'x') + trailer; }

// Blocks of RocksDB.
std::string Bloom(char probes) {
  return Array(std::string("\xff\0", 2) + probes + std::string(2, '\0'));
}
std::string Legacy(char probes) { return Array(probes + std::string("\2\0\0\0", 4)); }
std::string Ribbon(char blocks) {
  return Array(std::string("\xfe\7", 2) + blocks + std::string(2, '\0'));
}

class TableContents : public testing::Test {
 protected:
  TableFilter Read(TableWriter table) { return ReadBytes(table.Finish()); }

  TableFilter ReadBytes(const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), bytes, kPath).ok());
    TableFilter filter;
    visited_.clear();
    const auto visit = [this](const rocksdb::Slice& block) {
      visited_.push_back(block.ToString());
    };
    EXPECT_EQ(ReadTableFilter(*env_->GetFileSystem(), kPath, &filter, visit), filter.status);
    return filter;
  }

  TableFilter OfProperties(const Properties& properties) {
    TableWriter table;
    table.AddMeta(kProperties, EntriesOf(properties));
    const TableFilter filter = Read(table);
    EXPECT_TRUE(filter.status.ok()) << filter.status.ToString();
    return filter;
  }

  // Keys of the index have a sequence number.
  TableFilter OfPartitions(const std::vector<std::string>& blocks) {
    TableWriter table;
    std::map<std::string, std::string> index;
    for (const std::string& block : blocks) {
      index[std::string(1, static_cast<char>('a' + index.size())) + "sequence"] = table.Add(block);
    }
    table.AddMeta(kPartitioned, EntriesOf(index));
    const TableFilter filter = Read(table);
    EXPECT_TRUE(filter.status.ok()) << filter.status.ToString();
    EXPECT_EQ(filter.blocks, blocks.size());
    EXPECT_EQ(visited_, blocks);
    return filter;
  }

  const std::string kPath = "/table.sst";
  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::vector<std::string> visited_;
};

TEST_F(TableContents, HasEachPropertyInItsField) {
  const TableFilter filter = OfProperties({{"rocksdb.column.family.name", "users"},
                                           {"rocksdb.filter.policy", "policy"},
                                           {"rocksdb.num.entries", Varint(1000)},
                                           {"rocksdb.num.range-deletions", Varint(200)},
                                           {"rocksdb.num.filter_entries", Varint(300)},
                                           {"rocksdb.index.size", Varint(400)},
                                           {"rocksdb.num.data.blocks", Varint(500)}});
  EXPECT_EQ(filter.column_family, "users");
  EXPECT_EQ(filter.policy, "policy");
  EXPECT_EQ(filter.entries, 1000U);
  EXPECT_EQ(filter.range_deletes, 200U);
  EXPECT_EQ(filter.filter_keys, 300U);
  EXPECT_EQ(filter.index_bytes, 400U);
  EXPECT_EQ(filter.data_blocks, 500U);
  EXPECT_EQ(filter.PointEntries(), 800U);
  EXPECT_EQ(filter.family, FilterFamily::kNone);
}

TEST_F(TableContents, HasZerosForNumbersThatAreMissingOrDamaged) {
  const TableFilter filter =
      OfProperties({{"rocksdb.num.entries", "\x80"}, {"rocksdb.num.range-deletions", Varint(5)}});
  EXPECT_EQ(filter.entries, 0U);
  EXPECT_EQ(filter.PointEntries(), 0U);
  EXPECT_EQ(filter.data_blocks, 0U);
}

TEST_F(TableContents, SayWhatIsInTheFilter) {
  const std::string kWholeKeys = rocksdb::BlockBasedTablePropertyNames::kWholeKeyFiltering;
  const std::string kPrefixes = rocksdb::BlockBasedTablePropertyNames::kPrefixFiltering;
  const std::string kExtractor = rocksdb::TablePropertiesNames::kPrefixExtractorName;
  EXPECT_TRUE(OfProperties({}).whole_key_filtering);
  EXPECT_TRUE(OfProperties({{kWholeKeys, "1"}}).whole_key_filtering);
  EXPECT_FALSE(OfProperties({{kWholeKeys, "0"}}).whole_key_filtering);
  EXPECT_FALSE(OfProperties({}).prefix_filtering);
  EXPECT_FALSE(OfProperties({{kPrefixes, "1"}}).prefix_filtering);
  EXPECT_FALSE(OfProperties({{kPrefixes, "1"}, {kExtractor, "nullptr"}}).prefix_filtering);
  EXPECT_EQ(OfProperties({{kExtractor, "nullptr"}}).prefix_extractor, "");
  EXPECT_TRUE(OfProperties({{kExtractor, "first4"}}).prefix_filtering);
  EXPECT_TRUE(OfProperties({{kPrefixes, "1"}, {kExtractor, "first4"}}).prefix_filtering);
  const TableFilter off = OfProperties({{kPrefixes, "0"}, {kExtractor, "first4"}});
  EXPECT_FALSE(off.prefix_filtering);
  EXPECT_EQ(off.prefix_extractor, "first4");
}

TEST_F(TableContents, HasTheSumsOfItsPartitions) {
  const std::vector<std::string> blocks = {Block(FilterKind::kClassicBloom, 1000, 4),
                                           Block(FilterKind::kClassicBloom, 3000, 5, 20.0),
                                           Block(FilterKind::kStandardBloom, 2000, 6, 15.0)};
  const TableFilter filter = OfPartitions(blocks);
  std::uint64_t bytes = 0;
  std::uint64_t bits = 0;
  for (const std::string& block : blocks) {
    bytes += block.size();
    bits += FilterView(block).Description().bits;
  }
  EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
  EXPECT_TRUE(filter.partitioned);
  EXPECT_EQ(filter.compatibility_name, "rocksdb.BuiltinBloomFilter");
  EXPECT_EQ(filter.bytes, bytes);
  EXPECT_EQ(filter.bits, bits);
  EXPECT_EQ(filter.keys, 6000U);
  EXPECT_EQ(filter.kind, BloomKind::kStandard);
  EXPECT_EQ(filter.hash_seed, 6U);
  EXPECT_EQ(filter.min_probes, FilterView(blocks[0]).Description().probes);
  EXPECT_EQ(filter.max_probes, FilterView(blocks[1]).Description().probes);
  EXPECT_EQ(filter.format_version, static_cast<unsigned char>(blocks[0].back()));
  const TableFilter ribbon =
      OfPartitions({Block(FilterKind::kRibbon, 2000), Block(FilterKind::kRibbon, 3000)});
  EXPECT_EQ(ribbon.family, FilterFamily::kExactRibbon);
  EXPECT_EQ(ribbon.ribbon_slots, FilterView(visited_[0]).Description().slots +
                                     FilterView(visited_[1]).Description().slots);
  EXPECT_EQ(ribbon.keys, 5000U);
}

// RocksDB before 6.21 did not count the keys of filters.
TEST_F(TableContents, HasItsEntriesForKeysThatAreNotCounted) {
  const auto keys_of = [this](const std::string& block, const Properties& properties) {
    TableWriter table;
    table.AddMeta(kProperties, EntriesOf(properties));
    table.AddMeta(kFull, block);
    return Read(table).filter_keys;
  };
  const Properties entries = {{"rocksdb.num.entries", Varint(1000)},
                              {"rocksdb.num.range-deletions", Varint(200)}};
  Properties counted = entries;
  counted["rocksdb.num.filter_entries"] = Varint(300);
  EXPECT_EQ(keys_of(Bloom(6), entries), 800U);
  EXPECT_EQ(keys_of(Bloom(6), counted), 300U);
  EXPECT_EQ(keys_of("", entries), 0U);
}

// Partitions of a policy with Ribbon filters that have few keys are Bloom filters; empty ones do
// not count.
TEST_F(TableContents, HasTheFamilyOfItsPartitions) {
  const std::string ours = Block(FilterKind::kClassicBloom, 10);
  const std::string our_ribbon = Block(FilterKind::kRibbon, 2000);
  const std::string later = Bloom('\x3f');
  constexpr char kSeveral[] = "partitions of several kinds";
  constexpr char kLater[] = "a Bloom filter of a later RocksDB";
  struct Case {
    std::vector<std::string> blocks;
    FilterFamily family;
    std::string reason;
    std::uint64_t empty = 0;
  };
  const std::vector<Case> cases = {{{}, FilterFamily::kEmpty, ""},
                                   {{""}, FilterFamily::kEmpty, "", 1},
                                   {{"", "12345", ""}, FilterFamily::kEmpty, "", 2},
                                   {{"", Bloom(6)}, FilterFamily::kBloom, "", 1},
                                   {{Bloom(6), ""}, FilterFamily::kBloom, "", 1},
                                   {{Bloom(6), Bloom(5)}, FilterFamily::kBloom, ""},
                                   {{Ribbon(9), Bloom(5)}, FilterFamily::kRibbon, ""},
                                   {{Bloom(6), Ribbon(9), Bloom(5)}, FilterFamily::kRibbon, ""},
                                   {{ours, our_ribbon}, FilterFamily::kExactRibbon, ""},
                                   {{our_ribbon, ours, our_ribbon}, FilterFamily::kExactRibbon, ""},
                                   {{ours, Bloom(6)}, FilterFamily::kUnknown, kSeveral},
                                   {{ours, Ribbon(9)}, FilterFamily::kUnknown, kSeveral},
                                   {{our_ribbon, Ribbon(9)}, FilterFamily::kUnknown, kSeveral},
                                   {{our_ribbon, Bloom(6)}, FilterFamily::kUnknown, kSeveral},
                                   {{Legacy(6), Bloom(6)}, FilterFamily::kUnknown, kSeveral},
                                   {{Legacy(6), Legacy(6)}, FilterFamily::kLegacyBloom, ""},
                                   {{Bloom(6), ours, later}, FilterFamily::kUnknown, kSeveral},
                                   {{Bloom(6), later, ours}, FilterFamily::kUnknown, kLater},
                                   {{later, ours}, FilterFamily::kUnknown, kLater},
                                   {{"", later}, FilterFamily::kUnknown, kLater, 1}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const TableFilter filter = OfPartitions(cases[i].blocks);
    EXPECT_STREQ(NameOf(filter.family), NameOf(cases[i].family));
    EXPECT_EQ(filter.reason, cases[i].reason);
    EXPECT_EQ(filter.empty_partitions, cases[i].empty);
  }
}

TEST_F(TableContents, HasTheProbesAndSlotsOfRocksDBsPartitions) {
  const TableFilter bloom = OfPartitions({"", Bloom(6), Bloom(4), Bloom(8)});
  EXPECT_EQ(bloom.min_probes, 4);
  EXPECT_EQ(bloom.max_probes, 8);
  EXPECT_EQ(OfPartitions({Ribbon(9), Ribbon(2)}).ribbon_slots, 11U * 128U);
}

TEST_F(TableContents, HasBlocksOfRocksDBByTheirTrailers) {
  const auto family = [this](const std::string& trailer) {
    return std::string(NameOf(OfPartitions({Array(trailer)}).family));
  };
  const auto bloom = [&](int line, int probes, int first, int second) {
    return family({'\xff', static_cast<char>(line), static_cast<char>(probes),
                   static_cast<char>(first), static_cast<char>(second)});
  };
  EXPECT_EQ(bloom(0, 1, 0, 0), "bloom");
  EXPECT_EQ(bloom(0, 30, 0, 0), "bloom");
  EXPECT_EQ(bloom(0, 0, 0, 0), "unknown");
  EXPECT_EQ(bloom(0, 31, 0, 0), "unknown");
  EXPECT_EQ(bloom(0, 32 + 6, 0, 0), "unknown");
  EXPECT_EQ(bloom(1, 6, 0, 0), "unknown");
  EXPECT_EQ(bloom(0, 6, 1, 0), "unknown");
  EXPECT_EQ(bloom(0, 6, 0, 1), "unknown");
  const auto ribbon = [&](char low, char middle, char high) {
    return family({'\xfe', '\7', low, middle, high});
  };
  EXPECT_EQ(ribbon(2, 0, 0), "ribbon");
  EXPECT_EQ(ribbon(1, 0, 0), "unknown");
  EXPECT_EQ(ribbon(0, 1, 0), "ribbon");
  EXPECT_EQ(ribbon(0, 0, 1), "ribbon");
  EXPECT_EQ(OfPartitions({Array({'\xfe', '\7', 3, 2, 1})}).ribbon_slots, 128U * 0x10203U);
  const auto legacy = [&](char probes, char lines) {
    return family({probes, lines, '\0', '\0', '\0'});
  };
  EXPECT_EQ(legacy('\1', 2), "legacy_bloom");
  EXPECT_EQ(legacy('\x7f', 1), "legacy_bloom");
  EXPECT_EQ(legacy('\6', 0), "unknown");
  EXPECT_EQ(legacy('\6', 127), "unknown");  // of 1 byte each, but for one byte
  EXPECT_EQ(OfPartitions({std::string(96, 'x') + std::string("\6\2\0\0\0", 5)}).family,
            FilterFamily::kUnknown);  // lines of 48 bytes
  EXPECT_EQ(OfPartitions({"x" + std::string("\6\1\0\0\0", 5)}).family, FilterFamily::kLegacyBloom);
  EXPECT_EQ(OfPartitions({Legacy(6)}).max_probes, 6);
}

// Its size is bounded by the number of entries: 100 bits each for key and prefix.
TEST_F(TableContents, HasNoLargerFilterThanItsEntriesNeed) {
  for (const std::uint64_t entries : {0, 1, 1000}) {
    const std::size_t most = (std::size_t{1} << 20) + 32 * entries;
    for (const std::size_t more : {0, 1}) {
      TableWriter table;
      table.AddMeta(kFull, std::string(most + more, 'x'));
      table.AddMeta(kProperties, EntriesOf({{"rocksdb.num.entries", Varint(entries)}}));
      EXPECT_EQ(Read(table).status.IsCorruption(), more == 1) << entries;
    }
  }
}

TEST_F(TableContents, HasTheKeysOfItsPartitions) {
  for (const bool user_keys : {false, true}) {
    TableWriter table;
    const std::string suffix = user_keys ? "" : "sequence";
    table.AddMeta(kPartitioned, EntriesOf({{"key" + suffix, table.Add(Bloom(6))},
                                           {suffix, table.Add(Bloom(5))}}));
    table.AddMeta(kProperties,
                  EntriesOf({{"rocksdb.index.key.is.user.key", Varint(user_keys ? 1 : 0)}}));
    EXPECT_TRUE(rocksdb::WriteStringToFile(env_.get(), table.Finish(), kPath).ok());
    std::unique_ptr<files::TableFile> file;
    ASSERT_TRUE(files::TableFile::Open(*env_->GetFileSystem(), kPath, &file).ok());
    files::FilterBlockList blocks;
    ASSERT_TRUE(blocks.Open(*file, files::FindFilter(*file)).ok());
    std::vector<std::string> keys;
    while (!blocks.AtEnd()) {
      files::IndexEntry block;
      ASSERT_TRUE(blocks.Next(&block).ok());
      keys.push_back(block.key.ToString());
    }
    EXPECT_EQ(keys, user_keys ? (std::vector<std::string>{"", "key"})
                              : (std::vector<std::string>{"key", ""}));
  }
}

// As RocksDB writes it where no key goes into the filter.
TEST_F(TableContents, HasNoPartitionsInAnEmptyIndex) {
  TableWriter table;
  table.AddMeta(kPartitioned, "");
  const TableFilter filter = Read(table);
  EXPECT_TRUE(filter.status.ok()) << filter.status.ToString();
  EXPECT_EQ(filter.family, FilterFamily::kEmpty);
  EXPECT_EQ(filter.blocks, 0U);
}

TEST_F(TableContents, NamesABlockOutsideTheFile) {
  const auto error = [this](std::uint64_t offset, std::uint64_t size) {
    TableWriter table;
    table.Add(std::string(100, 'x'));
    table.AddHandle(kFull, Varint(offset) + Varint(size));
    return Read(table).status.ToString();
  };
  const auto outside = [](std::uint64_t offset, std::uint64_t size) {
    return "Corruption: /table.sst: the block of " + std::to_string(size) + " bytes at " +
           std::to_string(offset) + " lies outside the file";
  };
  TableWriter same;
  same.Add(std::string(100, 'x'));
  same.AddHandle(kFull, Varint(1) + Varint(100));
  const std::uint64_t file_bytes = same.Finish().size();
  const std::uint64_t last = file_bytes - files::kBlockTrailerBytes;
  EXPECT_EQ(error(0, 100), "OK");
  EXPECT_NE(error(last - 100, 100), outside(last - 100, 100));  // it is no block, though
  EXPECT_EQ(error(file_bytes - 50, 100), outside(file_bytes - 50, 100));
  EXPECT_EQ(error(last - 99, 100), outside(last - 99, 100));
  // The handles take more bytes in the metaindex, so the file is longer.
  for (const std::uint64_t far : {2 * file_bytes, ~std::uint64_t{0}}) {
    EXPECT_EQ(error(far, 100), outside(far, 100));
    EXPECT_EQ(error(0, far), outside(0, far));
    EXPECT_EQ(error(far, far), outside(far, far));
  }
}

TEST_F(TableContents, NamesWrongHandlesAndCompressedBlocks) {
  TableWriter wrong;
  wrong.AddHandle(kFull, "\x80");
  EXPECT_EQ(Read(wrong).status.ToString(),
            "Corruption: /table.sst: a wrong handle in the metaindex");
  TableWriter compressed;
  compressed.AddHandle(kFull, compressed.Add("1234567", rocksdb::kSnappyCompression));
  const TableFilter filter = Read(compressed);
  EXPECT_EQ(filter.status.ToString(),
            "Not implemented: /table.sst: the block of 7 bytes at 0 is compressed");
  EXPECT_EQ(filter.family, FilterFamily::kUnknown);
  EXPECT_EQ(filter.reason, "the table cannot be read");
}

TEST_F(TableContents, NamesABlockThatIsNotAsItWasWritten) {
  TableWriter table;
  table.AddMeta(kFull, Bloom(6));
  std::string bytes = table.Finish();
  EXPECT_EQ(ReadBytes(bytes).file_bytes, bytes.size());
  bytes[bytes.find("fullfilter")] ^= 1;
  EXPECT_NE(ReadBytes(bytes).status.ToString().find("has a wrong checksum"), std::string::npos);
  TableWriter outside;
  outside.AddHandle(kProperties, Varint(1000) + Varint(1000));
  EXPECT_EQ(Read(outside).status.ToString(),
            "Corruption: /table.sst: the block of 1000 bytes at 1000 lies outside the file");
  TableWriter partitioned;
  partitioned.AddMeta(kPartitioned, EntriesOf({{"ksequence", "\x80"}}));
  EXPECT_EQ(Read(partitioned).status.ToString(),
            "Corruption: /table.sst: a block of the table is damaged: a handle");
}

TEST_F(TableContents, HasNothingOfTheTableReadBefore) {
  TableWriter full;
  full.AddMeta(kFull, Block(FilterKind::kClassicBloom, 1000));
  const TableFilter once = Read(full);
  TableFilter twice = once;
  EXPECT_TRUE(ReadTableFilter(*env_->GetFileSystem(), kPath, &twice).ok());
  EXPECT_EQ(twice.keys, once.keys);
  EXPECT_EQ(twice.blocks, 1U);
  EXPECT_FALSE(twice.partitioned);
}

TEST_F(TableContents, HasNoEmptyPartitionIfItsFilterIsWhole) {
  TableWriter table;
  table.AddMeta(kFull, "");
  const TableFilter filter = Read(table);
  EXPECT_EQ(filter.family, FilterFamily::kEmpty);
  EXPECT_EQ(filter.empty_partitions, 0U);
}

TEST_F(TableContents, IsCorruptionWithAWrongChecksumOfItsProperties) {
  constexpr char kWrittenAtIngestion[] = "rocksdb.external_sst_file.global_seqno";
  const Properties properties = {{kWrittenAtIngestion, std::string(8, '\0')},
                                 {"rocksdb.num.entries", Varint(7)}};
  TableWriter table;
  table.AddMeta(kProperties, EntriesOf(properties));
  std::string bytes = table.Finish();
  const std::size_t number = bytes.find(kWrittenAtIngestion) + sizeof kWrittenAtIngestion - 1;
  bytes.replace(number, 8, "sequence");
  const TableFilter ingested = ReadBytes(bytes);
  EXPECT_TRUE(ingested.status.ok()) << ingested.status.ToString();
  EXPECT_EQ(ingested.entries, 7U);
  bytes[bytes.find("num.entries")] ^= 1;
  EXPECT_NE(ReadBytes(bytes).status.ToString().find("has a wrong checksum"), std::string::npos);
  TableWriter other;
  other.AddMeta(kProperties, EntriesOf({{"rocksdb.num.entries", Varint(7)}}));
  bytes = other.Finish();
  bytes[bytes.find("num.entries")] ^= 1;
  EXPECT_NE(ReadBytes(bytes).status.ToString().find("has a wrong checksum"), std::string::npos);
}

// Where the file ends before its size, or its bytes lie elsewhere than in the memory given.
class OtherReads : public rocksdb::FSRandomAccessFile {
 public:
  OtherReads(const std::string& bytes, std::size_t end) : bytes_(bytes), end_(end) {}
  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t count, const rocksdb::IOOptions&,
                         rocksdb::Slice* result, char*, rocksdb::IODebugContext*) const override {
    const std::size_t begin = std::min<std::size_t>(offset, end_);
    *result = rocksdb::Slice(bytes_.data() + begin, std::min(count, end_ - begin));
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::string& bytes_;
  std::size_t end_;
};

class OtherFiles : public rocksdb::FileSystemWrapper {
 public:
  OtherFiles(const std::shared_ptr<rocksdb::FileSystem>& target, std::string bytes, std::size_t end)
      : FileSystemWrapper(target), bytes_(std::move(bytes)), end_(end) {}
  const char* Name() const override { return "OtherFiles"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string&, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext*) override {
    *file = std::make_unique<OtherReads>(bytes_, end_);
    return rocksdb::IOStatus::OK();
  }

 private:
  std::string bytes_;
  std::size_t end_;
};

TEST_F(TableContents, AreThoseThatTheFileSystemReads) {
  TableWriter table;
  table.AddMeta(kFull, Bloom(6));
  const std::string bytes = table.Finish();
  EXPECT_EQ(ReadBytes(bytes).family, FilterFamily::kBloom);
  OtherFiles elsewhere(env_->GetFileSystem(), bytes, bytes.size());
  TableFilter filter;
  EXPECT_TRUE(ReadTableFilter(elsewhere, kPath, &filter).ok()) << filter.status.ToString();
  EXPECT_EQ(filter.family, FilterFamily::kBloom);
  OtherFiles shorter(env_->GetFileSystem(), bytes, bytes.size() - 1);
  EXPECT_EQ(ReadTableFilter(shorter, kPath, &filter).ToString(),
            "Corruption: /table.sst: the file ends before its size");
}

}  // namespace
}  // namespace exactbloom
