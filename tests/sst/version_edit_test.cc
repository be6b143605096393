// The records of a MANIFEST, with every field that RocksDB up to 11.8 writes, and later ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>

#include "sst/manifest.h"
#include "varint.h"

namespace exactbloom::files {
namespace {

using rocksdb::Status;

constexpr std::uint64_t kIgnorable = 1 << 13;
constexpr std::uint64_t kUnknown = 900;
constexpr std::uint64_t kAddedTable4 = 103;
constexpr std::uint64_t kTableEnd = 1;

std::string Varints(std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += Varint(value);
  return bytes;
}

std::string Bytes(const std::string& bytes) { return Varint(bytes.size()) + bytes; }

std::string InternalKey(const std::string& user_key) { return Bytes(user_key + "sequence"); }

// A table of level 2 with the number 77 and attributes, by any tag that adds one.
std::string AddedTable(std::uint64_t tag = kAddedTable4, const std::string& attributes = "") {
  std::string bytes = Varints({tag, 2, 77});
  if (tag == 102) bytes += Varint(1);  // path
  bytes += Varint(4096) + InternalKey("a") + InternalKey("z");
  if (tag != 7) bytes += Varints({10, 20});
  return tag == kAddedTable4 ? bytes + attributes + Varint(kTableEnd) : bytes;
}

struct Field {
  std::string name;
  std::string bytes;
};

std::ostream& operator<<(std::ostream& out, const Field& field) { return out << field.name; }

class PassedOver : public testing::TestWithParam<Field> {};

const std::string kBlob = Varints({8, 10, 1000}) + Bytes("method") + Bytes("checksum") + Varint(2) +
                          Bytes(std::string("of a\0later version", 18)) + Varint(0);
const std::string kGarbage = Varints({8, 3, 300, 0});
const std::string kLog = Varints({5, 2, 1, 1});

INSTANTIATE_TEST_SUITE_P(
    Fields, PassedOver,
    testing::Values(
        Field{"LogNumber", Varints({2, 5})}, Field{"NextFileNumber", Varints({3, 9})},
        Field{"LastSequence", Varints({4, 1000000})},
        Field{"CompactCursor", Varints({5, 1}) + InternalKey("k")},
        Field{"PrevLogNumber", Varints({9, 0})}, Field{"MinLogNumberToKeep", Varints({10, 4})},
        Field{"MaxColumnFamily", Varints({203, 3})}, Field{"BlobFileAddition", Varint(400) + kBlob},
        Field{"BlobFileGarbage", Varint(401) + kGarbage},
        Field{"DbId", Varint(kIgnorable + 1) + Bytes("id")},
        Field{"BlobFileAdditionDeprecated", Varint(kIgnorable + 2) + kBlob},
        Field{"BlobFileGarbageDeprecated", Varint(kIgnorable + 3) + kGarbage},
        Field{"WalAddition", Varint(kIgnorable + 4) + kLog},
        Field{"WalDeletion", Varints({kIgnorable + 5, 5})},
        Field{"FullHistoryTsLow", Varint(kIgnorable + 6) + Bytes("8 bytes.")},
        Field{"WalAddition2", Varint(kIgnorable + 7) + Bytes(kLog)},
        Field{"WalDeletion2", Varint(kIgnorable + 8) + Bytes(Varint(5))},
        Field{"PersistUserDefinedTimestamps", Varint(kIgnorable + 9) + Bytes("1")},
        Field{"SubcompactionProgress", Varint(kIgnorable + 10) + Bytes(Varint(1))},
        Field{"LastCompactedManifestFileSize", Varint(kIgnorable + 11) + Bytes(Varint(70000))},
        Field{"LaterIgnorable", Varint(kIgnorable + kUnknown) + Bytes("anything")},
        Field{"LaterIgnorableEmpty", Varint(kIgnorable + kUnknown) + Bytes("")}),
    [](const auto& test) { return test.param.name; });

// What follows the field is read in its right place.
TEST_P(PassedOver, BeforeATable) {
  VersionEdit edit;
  const Status status = DecodeVersionEdit(GetParam().bytes + AddedTable(), &edit);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(edit.added.size(), 1U);
  EXPECT_EQ(edit.added[0].first, 77U);
  EXPECT_EQ(edit.added[0].second.level, 2);
  EXPECT_EQ(edit.added[0].second.largest, "z");
  EXPECT_TRUE(edit.deleted.empty());
}

TEST_P(PassedOver, ATruncatedOneIsCorruption) {
  const std::string& whole = GetParam().bytes;
  VersionEdit edit;
  EXPECT_TRUE(DecodeVersionEdit({whole.data(), whole.size() - 1}, &edit).IsCorruption());
}

TEST(VersionEdit, APartOfATableIsCorruption) {
  for (const std::uint64_t tag : {7U, 100U, 102U, 103U}) {
    const std::string whole =
        AddedTable(tag, tag == kAddedTable4 ? Varint(2) + Bytes("value") : "");
    for (std::size_t size = 1; size < whole.size(); ++size) {
      VersionEdit edit;
      EXPECT_TRUE(DecodeVersionEdit({whole.data(), size}, &edit).IsCorruption())
          << tag << ' ' << size;
    }
  }
}

TEST(VersionEdit, AnInternalKeyHasASequenceNumber) {
  const auto status = [](const std::string& key) {
    VersionEdit edit;
    return DecodeVersionEdit(Varints({7, 2, 77, 4096}) + Bytes(key) + InternalKey("z"), &edit);
  };
  EXPECT_TRUE(status("sequence").ok());
  EXPECT_TRUE(status("equence").IsCorruption());
}

TEST(VersionEdit, HasNothingOfTheOneBefore) {
  VersionEdit edit;
  ASSERT_TRUE(DecodeVersionEdit(Varints({200, 4, 202}) + AddedTable(), &edit).ok());
  ASSERT_TRUE(DecodeVersionEdit({}, &edit).ok());
  EXPECT_EQ(edit.column_family, 0U);
  EXPECT_FALSE(edit.drops_family);
  EXPECT_TRUE(edit.added.empty());
}

TEST(VersionEdit, ANumberOfMoreThan64BitsIsCorruption) {
  VersionEdit edit;
  const std::string log_number = '\x82' + std::string(8, '\x80') + '\2';  // 2 in its low 64 bits
  EXPECT_TRUE(DecodeVersionEdit(log_number + Varint(5), &edit).IsCorruption());
}

TEST(VersionEdit, AddsTablesOfEveryForm) {
  for (const std::uint64_t tag : {7U, 100U, 102U, 103U}) {
    VersionEdit edit;
    const Status status = DecodeVersionEdit(AddedTable(tag) + Varints({6, 3, 55}), &edit);
    ASSERT_TRUE(status.ok()) << tag << ": " << status.ToString();
    ASSERT_EQ(edit.added.size(), 1U) << tag;
    EXPECT_EQ(edit.added[0].first, 77U) << tag;
    EXPECT_EQ(edit.added[0].second.level, 2) << tag;
    EXPECT_EQ(edit.added[0].second.smallest, "a") << tag;
    EXPECT_EQ(edit.added[0].second.largest, "z") << tag;
    EXPECT_EQ(edit.added[0].second.largest_sequence, tag == 7 ? 0U : 20U) << tag;
    ASSERT_EQ(edit.deleted.size(), 1U) << tag;
    EXPECT_EQ(edit.deleted[0].first, 3) << tag;
    EXPECT_EQ(edit.deleted[0].second, 55U) << tag;
  }
}

TEST(VersionEdit, PassesOverATablesAttributes) {
  constexpr std::uint64_t kLatest = 17;  // metadata for opening it fast, from 11.2 on
  std::string attributes;
  for (std::uint64_t attribute = 2; attribute <= kLatest + 1; ++attribute) {
    attributes += Varint(attribute) + Bytes("value");
  }
  attributes += Varint(65) + Bytes(Varint(1));  // its path, which must be known
  VersionEdit edit;
  const Status status = DecodeVersionEdit(AddedTable(kAddedTable4, attributes), &edit);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(edit.added.size(), 1U);
}

TEST(VersionEdit, AddsAndDropsColumnFamiliesInGroups) {
  VersionEdit added;
  const std::string name = "users";
  const std::string comparator = "leveldb.BytewiseComparator";
  ASSERT_TRUE(DecodeVersionEdit(Varint(1) + Bytes(comparator) + Varints({200, 4}) + Varint(201) +
                                    Bytes(name) + Varints({300, 2}),
                                &added)
                  .ok());
  EXPECT_TRUE(added.adds_family);
  EXPECT_EQ(added.column_family, 4U);
  EXPECT_EQ(added.family_name, name);
  EXPECT_EQ(added.comparator, comparator);
  EXPECT_EQ(added.group_edits_left, 2U);
  EXPECT_FALSE(added.drops_family);

  VersionEdit dropped;
  ASSERT_TRUE(DecodeVersionEdit(Varints({200, 4, 202}), &dropped).ok());
  EXPECT_TRUE(dropped.drops_family);
  EXPECT_FALSE(dropped.adds_family);
  EXPECT_EQ(dropped.group_edits_left, 0U);
}

void ExpectRefused(const std::string& bytes, const std::string& number) {
  VersionEdit edit;
  const Status status = DecodeVersionEdit(bytes, &edit);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("of a later RocksDB: " + number), std::string::npos)
      << status.ToString();
}

TEST(VersionEdit, NamesWhatMustBeKnown) {
  ExpectRefused(AddedTable() + Varint(kUnknown) + Bytes("anything"), "900");
  ExpectRefused(AddedTable(kAddedTable4, Varint(66) + Bytes("anything")), "66");
}

}  // namespace
}  // namespace exactbloom::files
