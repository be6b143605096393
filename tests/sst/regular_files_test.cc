// The files that are read, and how much of them. What else may lie in their place is in
// tests/tool/special_files_test.cc.
#include "sst/regular_files.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sample_database.h"
#include "sst/manifest.h"
#include "sst/record_log.h"

namespace exactbloom::files {
namespace {

namespace fs = std::filesystem;
using rocksdb::Slice;
using rocksdb::Status;

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(RegularFiles, EndWhereTheyDidWhenTheyWereOpened) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  Write(path, "0123456789");
  std::unique_ptr<rocksdb::FSRandomAccessFile> any_place;
  std::unique_ptr<rocksdb::FSSequentialFile> in_order;
  ASSERT_TRUE(RegularFiles()->NewRandomAccessFile(path, {}, &any_place, nullptr).ok());
  ASSERT_TRUE(RegularFiles()->NewSequentialFile(path, {}, &in_order, nullptr).ok());
  std::ofstream(path, std::ios::app) << "more";
  std::array<char, 20> scratch{};
  Slice read;
  for (const auto& [offset, bytes, expected] :
       {std::tuple{0, 4, "0123"}, {8, 20, "89"}, {10, 1, ""}, {100, 1, ""}}) {
    ASSERT_TRUE(any_place->Read(offset, bytes, {}, &read, scratch.data(), nullptr).ok());
    EXPECT_EQ(read, expected);
  }
  ASSERT_TRUE(in_order->Read(2, {}, &read, scratch.data(), nullptr).ok());
  EXPECT_EQ(read, "01");
  ASSERT_TRUE(in_order->Skip(3).ok());
  for (const char* expected : {"56789", "", ""}) {
    ASSERT_TRUE(in_order->Read(20, {}, &read, scratch.data(), nullptr).ok());
    EXPECT_EQ(read, expected);
  }
}

// RocksDB tells a file that is gone from other errors.
TEST(RegularFiles, ThatAreGoneHaveTheErrorOfTheMachine) {
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  const Status status = RegularFiles()->NewRandomAccessFile("/nonexistent/a", {}, &file, nullptr);
  EXPECT_TRUE(status.IsPathNotFound()) << status.ToString();
  EXPECT_EQ(status.ToString(),
            "IO error: No such file or directory: /nonexistent/a: No such file or directory");
}

TEST(RegularFiles, OfWhichBothEndsAreRead) {
  constexpr std::uintmax_t kEnd = std::uintmax_t{32} << 20;
  const TemporaryDirectory directory;
  const std::string path = directory.path("LOG");
  std::string text;
  for (const std::string whole : {"", "short"}) {
    Write(path, whole);
    ASSERT_TRUE(ReadBothEnds(path, &text).ok());
    EXPECT_EQ(text, whole);
  }
  fs::resize_file(path, 10 * kEnd);
  std::ofstream(path, std::ios::app) << "last";
  ASSERT_TRUE(ReadBothEnds(path, &text).ok());
  EXPECT_EQ(text.size(), 2 * kEnd);
  EXPECT_EQ(text.substr(0, 5), "short");
  EXPECT_EQ(text.substr(text.size() - 4), "last");
}

// A longer line is visited in parts of a MiB.
TEST(RegularFiles, OfWhichALongLineIsReadInPartsThatLackNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("LOG");
  const std::string part(std::size_t{1} << 20, 'a');
  Write(path, "first\n" + part + part + "rest\n" + part + "\nlast");
  std::vector<std::string> lines;
  const auto visit = [&](const std::string& line) {
    lines.push_back(line);
    return true;
  };
  ASSERT_TRUE(ReadLines(path, visit).ok());
  EXPECT_TRUE(lines == (std::vector<std::string>{"first", part, part, "rest", part, "last"}));
}

TEST(Records, AreBounded) {
  const TemporaryDirectory directory;
  const std::string db = directory.path("db");
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), db), 10);
  std::string path;
  for (const auto& file : fs::directory_iterator(db)) {
    if (Slice(file.path().filename().string()).starts_with("MANIFEST")) path = file.path();
  }
  const auto visit = [](const Slice& /*record*/) { return Status::OK(); };
  EXPECT_TRUE(VisitRecords(*RegularFiles(), path, visit).ok());
  EXPECT_EQ(VisitRecords(*RegularFiles(), path, visit, 20).ToString(),
            "Corruption: " + path + ": a record is too large");
  Manifest manifest;
  EXPECT_TRUE(ReadManifest(*RegularFiles(), db, &manifest).ok());
  EXPECT_EQ(manifest.tables.size(), 1U);
  EXPECT_EQ(ReadManifest(*RegularFiles(), db, &manifest, 200).ToString(),
            "Corruption: " + path + ": a group of edits is too large");
  fs::resize_file(path, 0);
  EXPECT_EQ(ReadManifest(*RegularFiles(), db, &manifest).ToString(),
            "Corruption: " + path + ": it has no edits");
}

}  // namespace
}  // namespace exactbloom::files
