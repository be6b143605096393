// The files that are read, and how much of them. What else may lie in their place is in
// tests/tool/special_files_test.cc.
#include "sst/regular_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
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

TEST(RegularFiles, OfWhichLinesAreReadUntilOneIsTheLast) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("LOG");
  std::vector<std::string> lines;
  const auto read = [&](const std::string& text) {
    Write(path, text);
    lines.clear();
    const auto visit = [&](const std::string& line) {
      lines.push_back(line);
      return line != "last";
    };
    EXPECT_TRUE(ReadLines(path, visit).ok());
    return lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(read(""), Lines{});
  EXPECT_EQ(read("\n\na"), (Lines{"", "", "a"}));
  EXPECT_EQ(read("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(read("a\nlast\nb\nc"), (Lines{"a", "last"}));
  std::string text;
  Lines expected;
  for (int i = 0; i < 200'000; ++i) {  // more than are read at once
    expected.push_back(std::to_string(i));
    text += expected.back() + "\n";
  }
  EXPECT_TRUE(read(text) == expected);
}

TEST(RegularFiles, WhoseEndsMeetAreReadWhole) {
  constexpr std::size_t kEnd = std::size_t{32} << 20;
  const TemporaryDirectory directory;
  const std::string path = directory.path("LOG");
  for (const std::size_t size : {kEnd, kEnd + 1, 2 * kEnd}) {
    std::string whole(size, '\0');
    Write(path, "");
    fs::resize_file(path, size);
    std::fstream file(path, std::ios::in | std::ios::out);
    for (const std::size_t place : {std::size_t{0}, kEnd - 1, kEnd, size - 1}) {
      if (place >= size) continue;
      whole[place] = static_cast<char>('a' + place % 26);
      file.seekp(static_cast<std::streamoff>(place)).put(whole[place]);
    }
    file.close();
    std::string text = "of another file";
    ASSERT_TRUE(ReadBothEnds(path, &text).ok());
    EXPECT_TRUE(text == whole) << size;
  }
}

TEST(RegularFiles, ReadFromTheirBeginningAreNoLargerThanTheirKindIs) {
  constexpr std::uintmax_t kMostOfAText = std::uintmax_t{64} << 20;
  constexpr std::uintmax_t kMostOfALog = std::uintmax_t{64} << 30;
  const TemporaryDirectory directory;
  const auto error = [&](const std::string& name, std::uintmax_t bytes) {
    const std::string path = directory.path(name);
    Write(path, "");
    fs::resize_file(path, bytes);
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    const Status status = RegularFiles()->NewSequentialFile(path, {}, &file, nullptr);
    EXPECT_EQ(status.ok(), file != nullptr);
    return status.ok() ? "" : status.ToString().substr(("IO error: " + path).size());
  };
  for (const char* name : {"CURRENT", "OPTIONS-000007", "LOG", "MANIFEST", "a.log.old"}) {
    EXPECT_EQ(error(name, kMostOfAText), "");
    EXPECT_EQ(error(name, kMostOfAText + 1),
              ": 67108865 bytes are more than the 67108864 that are read of such a file");
  }
  for (const char* name : {"MANIFEST-000001", "000007.log"}) {
    EXPECT_EQ(error(name, kMostOfALog), "");
    EXPECT_EQ(error(name, kMostOfALog + 1),
              ": 68719476737 bytes are more than the 68719476736 that are read of such a file");
  }
  const std::string log = directory.path("LOG");
  fs::resize_file(log, kMostOfALog + 1);
  std::string text;
  EXPECT_TRUE(ReadBothEnds(log, &text).IsIOError());
  EXPECT_TRUE(ReadLines(log, [](const std::string&) { return false; }).IsIOError());
}

TEST(RegularFiles, AreNoDirectoriesAndDevices) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [path, kind] :
       {std::pair<std::string, std::string>{directory.path(), "a directory"},
        {"/dev/null", "a character device"},
        {fifo, "a FIFO"}}) {
    std::string text;
    EXPECT_EQ(ReadBothEnds(path, &text).ToString(),
              "IO error: " + path + ": not a regular file but " + kind);
  }
}

TEST(RegularFiles, ThatAreGoneHaveNoLines) {
  const auto visit = [](const std::string&) { return true; };
  EXPECT_TRUE(ReadLines("/nonexistent/a", visit).IsPathNotFound());
  std::string text;
  EXPECT_TRUE(ReadBothEnds("/nonexistent/a", &text).IsPathNotFound());
}

TEST(RegularFiles, AreClosed) {
  const auto open_files = [] {
    const fs::directory_iterator descriptors("/proc/self/fd");
    return std::distance(fs::begin(descriptors), fs::end(descriptors));
  };
  const TemporaryDirectory directory;
  const std::string path = directory.path("LOG");
  Write(path, "text");
  const auto before = open_files();
  std::string text;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ReadBothEnds(path, &text).ok());
  EXPECT_EQ(open_files(), before);
}

// A file that is cut off while it is open ends there.
TEST(RegularFiles, EndWhereTheyAreCutOff) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("file");
  Write(path, "0123456789");
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  ASSERT_TRUE(RegularFiles()->NewSequentialFile(path, {}, &file, nullptr).ok());
  fs::resize_file(path, 4);
  std::array<char, 20> scratch{};
  Slice read;
  ASSERT_TRUE(file->Read(20, {}, &read, scratch.data(), nullptr).ok());
  EXPECT_EQ(read, "0123");
  ASSERT_TRUE(file->Skip(100).ok());
  ASSERT_TRUE(file->Skip(1).ok());
  ASSERT_TRUE(file->Read(20, {}, &read, scratch.data(), nullptr).ok());
  EXPECT_EQ(read, "");
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
