// Numbers, blocks of entries and footers, against writers of the same formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sst/block_checksum.h"
#include "sst/coding.h"
#include "sst/entry_block.h"
#include "sst/footer.h"
#include "varint.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string SignedVarint(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return Varint(value < 0 ? ~(bits << 1) : bits << 1);
}

TEST(Coding, ReadsEveryVarintAndNoneThatIsTruncated) {
  std::vector<std::uint64_t> values = {0, std::numeric_limits<std::uint64_t>::max()};
  for (unsigned bit = 0; bit < 64; ++bit) {
    values.push_back(std::uint64_t{1} << bit);
    values.push_back((std::uint64_t{1} << bit) - 1);
  }
  for (const std::uint64_t value : values) {
    const std::string bytes = Varint(value) + "rest";
    Slice input(bytes);
    std::uint64_t read = 1;
    EXPECT_TRUE(TakeVarint(&input, &read)) << value;
    EXPECT_EQ(read, value);
    EXPECT_EQ(input, "rest");
    for (std::size_t size = 0; size < bytes.size() - 4; ++size) {
      Slice truncated(bytes.data(), size);
      EXPECT_FALSE(TakeVarint(&truncated, &read)) << value;
    }
  }
}

TEST(Coding, RefusesVarintsOfMoreThan64Bits) {
  const std::string nine_bytes(9, '\xff');
  std::uint64_t read = 0;
  for (const char* last : {"\x02", "\x7f", "\x81\x01", "\x80\x01"}) {
    const std::string bytes = nine_bytes + last;
    Slice input(bytes);
    EXPECT_FALSE(TakeVarint(&input, &read));
  }
}

TEST(Coding, ReadsSignedVarints) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{-64},
        std::int64_t{64}, std::int64_t{-1000}, Limits::max(), Limits::min()}) {
    const std::string bytes = SignedVarint(value);
    Slice input(bytes);
    std::int64_t read = 5;
    EXPECT_TRUE(TakeSignedVarint(&input, &read));
    EXPECT_EQ(read, value);
  }
  Slice empty;
  std::int64_t read = 0;
  EXPECT_FALSE(TakeSignedVarint(&empty, &read));
}

struct Entry {
  std::string key;
  std::string value;
  bool operator==(const Entry& other) const { return key == other.key && value == other.value; }
};

std::string Restarts(std::uint32_t count) {
  return std::string(sizeof count * count, '\0') + Fixed(count);
}

std::size_t CommonBytes(const std::string& one, const std::string& other) {
  const std::size_t shorter = std::min(one.size(), other.size());
  return static_cast<std::size_t>(
      std::mismatch(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(shorter), other.begin())
          .first -
      one.begin());
}

class BlockOfEntries : public testing::Test {
 protected:
  std::vector<std::string> RandomKeys() {
    std::vector<std::string> keys(random_() % 20);
    for (std::string& key : keys) {
      for (std::uint64_t left = random_() % 5; left > 0; --left) key += random_() % 2 ? 'a' : 'b';
    }
    return keys;
  }

  // How many bytes of the key before are not repeated: none at a restart.
  std::size_t Shared(const std::string& before, const std::string& key) {
    return random_() % 3 == 0 ? 0 : CommonBytes(before, key);
  }

  static Status Visit(const std::string& block, std::vector<Entry>* entries) {
    entries->clear();
    return VisitEntries(block, [&](const Slice& key, const Slice& value) {
      entries->push_back({key.ToString(), value.ToString()});
    });
  }

  std::mt19937 random_{7};
};

TEST_F(BlockOfEntries, HasThoseThatWereWrittenAndNoPartOfOne) {
  for (int i = 0; i < 200; ++i) {
    std::string bytes;
    std::vector<Entry> entries;
    std::vector<std::size_t> ends = {0};
    std::string before;
    for (const std::string& key : RandomKeys()) {
      const std::string value(random_() % 4, 'v');
      const std::size_t shared = Shared(before, key);
      bytes += Varint(shared) + Varint(key.size() - shared) + Varint(value.size()) +
               key.substr(shared) + value;
      entries.push_back({key, value});
      ends.push_back(bytes.size());
      before = key;
    }
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
      std::vector<Entry> read;
      const Status status =
          Visit(bytes.substr(0, size) + Restarts(static_cast<std::uint32_t>(random_() % 3)), &read);
      const auto whole = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin() - 1;
      EXPECT_TRUE(read == std::vector<Entry>(entries.begin(), entries.begin() + whole));
      const bool is_end = ends[static_cast<std::size_t>(whole)] == size;
      EXPECT_EQ(status.ToString(),
                is_end ? "OK" : "Corruption: a block of the table is damaged: an entry");
    }
  }
}

TEST_F(BlockOfEntries, MayNotShareMoreThanTheKeyBefore) {
  const std::string first = Varint(0) + Varint(2) + Varint(0) + "ab";
  std::vector<Entry> read;
  EXPECT_TRUE(Visit(first + Varint(2) + Varint(0) + Varint(0) + Restarts(1), &read).ok());
  EXPECT_TRUE(Visit(first + Varint(3) + Varint(0) + Varint(0) + Restarts(1), &read).IsCorruption());
}

TEST_F(BlockOfEntries, EndsBeforeItsRestarts) {
  const auto expect = [](const std::string& block, bool is_right) {
    std::vector<Entry> read;
    IndexReader index;
    const std::string expected =
        is_right ? "OK" : "Corruption: a block of the table is damaged: restarts";
    EXPECT_EQ(Visit(block, &read).ToString(), expected);
    EXPECT_EQ(index.Open(block, false).ToString(), expected);
    EXPECT_TRUE(read.empty());
    if (is_right) {
      EXPECT_TRUE(index.AtEnd());
    }
  };
  expect("", false);
  expect("123", false);
  for (const std::uint32_t count : {0U, 1U, 5U}) {
    expect(Restarts(count), true);
    expect(std::string(4 * count, '\0') + Fixed(count + 1), false);
  }
  expect(Fixed(std::uint32_t{1} << 31), false);  // with a hash index, as data blocks may have
  expect(Fixed(std::numeric_limits<std::uint32_t>::max()), false);
}

TEST_F(BlockOfEntries, SharesAMegabyteAtMost) {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  for (const std::size_t more : {0, 1}) {
    const std::string key(kMegabyte / 2 + more, 'k');
    const std::string same = Varint(key.size()) + Varint(0) + Varint(0);
    std::vector<Entry> read;
    const Status status =
        Visit(Varint(0) + Varint(key.size()) + Varint(0) + key + same + same + Restarts(1), &read);
    EXPECT_EQ(status.ok(), more == 0) << status.ToString();
  }
}

TEST_F(BlockOfEntries, AsAnIndexHasTheHandlesThatWereWritten) {
  for (int i = 0; i < 200; ++i) {
    const bool is_delta_encoded = i % 2 == 0;
    std::string bytes;
    std::vector<IndexEntry> expected;
    const std::vector<std::string> keys = RandomKeys();
    std::string before;
    BlockHandle handle;
    for (const std::string& key : keys) {
      const std::size_t shared = Shared(before, key);
      const std::uint64_t size = random_() % 1000;
      const bool is_next = is_delta_encoded && shared != 0;
      const std::uint64_t offset =
          is_next ? handle.offset + handle.size + kBlockTrailerBytes : random_() % 1'000'000;
      const std::string value = is_next
                                    ? SignedVarint(static_cast<std::int64_t>(size - handle.size))
                                    : Varint(offset) + Varint(size);
      handle = {offset, size};
      bytes += Varint(shared) + Varint(key.size() - shared) +
               (is_delta_encoded ? "" : Varint(value.size())) + key.substr(shared) + value;
      expected.push_back({key, handle});
      before = key;
    }
    IndexReader index;
    bytes += Restarts(2);
    ASSERT_TRUE(index.Open(bytes, is_delta_encoded).ok());
    for (const IndexEntry& each : expected) {
      EXPECT_FALSE(index.AtEnd());
      IndexEntry read;
      ASSERT_TRUE(index.Next(&read).ok());
      EXPECT_EQ(read.key, each.key);
      EXPECT_EQ(read.handle.offset, each.handle.offset);
      EXPECT_EQ(read.handle.size, each.handle.size);
    }
    EXPECT_TRUE(index.AtEnd());
  }
}

TEST_F(BlockOfEntries, AsAnIndexWithPartOfAHandleIsCorruption) {
  const std::string handle = Varint(300) + Varint(300);
  const std::string second = Varint(1) + Varint(1) + "b";  // its growth is missing
  const std::vector<std::pair<std::string, bool>> blocks = {
      {Varint(0) + Varint(1) + Varint(3) + "k" + handle, false},
      {Varint(0) + Varint(1) + "k" + handle.substr(0, 3), true},
      {Varint(0) + Varint(1) + "k" + handle + second, true}};
  for (const auto& [bytes, is_delta_encoded] : blocks) {
    IndexReader index;
    const std::string block = bytes + Restarts(1);
    ASSERT_TRUE(index.Open(block, is_delta_encoded).ok());
    Status status;
    IndexEntry read;
    while (status.ok() && !index.AtEnd()) status = index.Next(&read);
    EXPECT_EQ(status.ToString(), "Corruption: a block of the table is damaged: a handle");
  }
}

constexpr std::uint64_t kMagic = 0x88e241b785f4cff7U;
constexpr std::uint64_t kMagicOfVersion0 = 0xdb4775248b80fb57U;

std::string Handles(std::uint64_t offset, std::uint64_t size) {
  std::string handles = Varint(offset) + Varint(size);
  handles.resize(40);
  return handles;
}

std::string FooterOf(std::uint32_t version, char checksum, const std::string& handles) {
  return checksum + handles + Fixed(version) + Fixed(kMagic);
}

// Of version 6 or later, at this place in the file, with this block before it.
std::string FooterWithChecksum(std::uint64_t offset, std::uint32_t metaindex_bytes) {
  constexpr std::uint32_t kBase = 0x12345678;
  const std::string head("\4\x3e\0\x7a\0", 5);
  const std::string tail = Fixed(kBase) + Fixed(metaindex_bytes) + std::string(24, '\0') +
                           Fixed(std::uint32_t{6}) + Fixed(kMagic);
  const std::uint32_t checksum =
      BlockChecksum(rocksdb::kXXH3, head + Fixed(std::uint32_t{0}) + tail) +
      ChecksumOfPlace(kBase, offset);
  return head + Fixed(checksum) + tail;
}

std::string DamagedFooter(const std::string& what) {
  return "Corruption: the footer of the table is damaged: " + what;
}

// ChecksumModifierForContext in RocksDB's table/format.h.
TEST(ChecksumOfPlace, MixesBothHalvesOfTheOffset) {
  EXPECT_EQ(ChecksumOfPlace(0x10, 7), 0x10U ^ 7U);
  EXPECT_EQ(ChecksumOfPlace(0x10, (std::uint64_t{5} << 32) + 7), 0x10U ^ 12U);
  EXPECT_EQ(ChecksumOfPlace(0, (std::uint64_t{5} << 32) + 7), 0U);
}

TEST(DecodeFooter, HasWhatTheFooterSays) {
  Footer footer;
  ASSERT_TRUE(
      DecodeFooter("before" + Handles(1000, 77) + Fixed(kMagicOfVersion0), 2000, &footer).ok());
  EXPECT_EQ(footer.format_version, 0U);
  EXPECT_EQ(footer.checksum, rocksdb::kCRC32c);
  EXPECT_EQ(footer.metaindex.offset, 1000U);
  EXPECT_EQ(footer.metaindex.size, 77U);
  for (const char checksum : {'\0', '\1', '\4'}) {
    ASSERT_TRUE(DecodeFooter(FooterOf(5, checksum, Handles(1000, 77)), 2000, &footer).ok());
    EXPECT_EQ(footer.format_version, 5U);
    EXPECT_EQ(footer.checksum, static_cast<rocksdb::ChecksumType>(checksum));
    EXPECT_EQ(footer.base_checksum, 0U);
    EXPECT_EQ(footer.metaindex.offset, 1000U);
    EXPECT_EQ(footer.metaindex.size, 77U);
  }
  ASSERT_TRUE(DecodeFooter(FooterWithChecksum(2000, 77), 2053, &footer).ok());
  EXPECT_EQ(footer.format_version, 6U);
  EXPECT_EQ(footer.checksum, rocksdb::kXXH3);
  EXPECT_EQ(footer.base_checksum, 0x12345678U);
  EXPECT_EQ(footer.metaindex.size, 77U);
  EXPECT_EQ(footer.metaindex.offset, 2000U - 77U - kBlockTrailerBytes);
}

TEST(DecodeFooter, NamesWhatIsWrong) {
  const auto error = [](const std::string& tail, std::uint64_t file_bytes = 2000) {
    Footer footer;
    return DecodeFooter(tail, file_bytes, &footer).ToString();
  };
  const std::string version0 = Handles(1000, 77) + Fixed(kMagicOfVersion0);
  EXPECT_EQ(error(version0, version0.size()), "OK");
  EXPECT_EQ(error(version0.substr(1)), DamagedFooter("the file is too short"));
  const std::string version5 = FooterOf(5, 1, Handles(1000, 77));
  EXPECT_EQ(error(version5.substr(1)), DamagedFooter("the file is too short"));
  for (const char checksum : {'\5', '\x7f', '\xff'}) {
    EXPECT_EQ(error(FooterOf(5, checksum, Handles(1000, 77))), DamagedFooter("checksum type"));
  }
  const std::string endless(40, '\xff');
  EXPECT_EQ(error(FooterOf(5, 1, endless)), DamagedFooter("metaindex"));
  EXPECT_EQ(error(endless + Fixed(kMagicOfVersion0)), DamagedFooter("metaindex"));
  EXPECT_EQ(error(FooterOf(8, 1, Handles(1000, 77))),
            "Not implemented: this table has format_version 8, which is not known here");
  std::string other_magic = FooterWithChecksum(2000, 77);
  other_magic[1] = 0;
  EXPECT_EQ(error(other_magic, 2053), DamagedFooter("extended magic number"));
  EXPECT_EQ(error(FooterWithChecksum(2000, 77), 2054), DamagedFooter("checksum"));
}

TEST(DecodeFooter, PlacesTheMetaindexWithinTheFile) {
  constexpr std::uint32_t kMetaindexBytes = 77;
  const std::uint64_t least = kMetaindexBytes + kBlockTrailerBytes;
  Footer footer;
  EXPECT_TRUE(
      DecodeFooter(FooterWithChecksum(least, kMetaindexBytes), least + kMaxFooterBytes, &footer)
          .ok());
  EXPECT_EQ(footer.metaindex.offset, 0U);
  EXPECT_EQ(DecodeFooter(FooterWithChecksum(least - 1, kMetaindexBytes),
                         least - 1 + kMaxFooterBytes, &footer)
                .ToString(),
            DamagedFooter("metaindex"));
}

}  // namespace
}  // namespace exactbloom::files
