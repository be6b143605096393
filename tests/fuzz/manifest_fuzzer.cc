// Reads any bytes as a database's MANIFEST: the result is a list of tables or an error with a
// message. Also, any records written in RocksDB's format are read back unchanged, from a truncated
// file as many as are complete.
//
// An input is a byte for the kind of content (Content), and the content.
#include <rocksdb/env.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "input.h"
#include "sst/block_checksum.h"
#include "sst/manifest.h"
#include "sst/record_log.h"

namespace exactbloom::fuzz {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

enum Content : std::uint8_t { kRecords, kCutRecords, kFile, kCurrent, kContents };

constexpr char kDatabase[] = "/db";
constexpr char kCurrentPath[] = "/db/CURRENT";
constexpr char kManifestPath[] = "/db/MANIFEST-000001";

rocksdb::Env& Memory() {
  static rocksdb::Env& memory = *rocksdb::NewMemEnv(rocksdb::Env::Default());
  return memory;
}

void Write(const std::string& bytes, const char* path) {
  Require(rocksdb::WriteStringToFile(&Memory(), bytes, path).ok(), "a file is not written");
}

template <typename Number>
void AppendFixed(Number value, std::string* bytes) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes->push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

// The format is described in record_log.h.
std::string WriteRecords(const std::vector<std::string>& records) {
  constexpr std::size_t kBlockBytes = 32768;
  constexpr std::size_t kHeaderBytes = 7;
  enum Type : char { kWhole = 1, kFirst, kMiddle, kLast };
  std::string file;
  for (const std::string& record : records) {
    std::size_t done = 0;
    bool first = true;
    bool last = false;
    while (!last) {
      std::size_t room = kBlockBytes - file.size() % kBlockBytes;
      if (room < kHeaderBytes) {
        file.append(room, '\0');
        room = kBlockBytes;
      }
      const std::string part = record.substr(done, room - kHeaderBytes);
      done += part.size();
      last = done == record.size();
      const Type type = first ? (last ? kWhole : kFirst) : (last ? kLast : kMiddle);
      const std::string checked = static_cast<char>(type) + part;
      AppendFixed(files::BlockChecksum(rocksdb::kCRC32c, checked), &file);
      AppendFixed(static_cast<std::uint16_t>(part.size()), &file);
      file += checked;
      first = false;
    }
  }
  return file;
}

// Records preceded by their lengths; some are long.
std::vector<std::string> TakeRecords(Input& input) {
  constexpr std::size_t kMaxBytes = 200000;  // of all records, six blocks
  constexpr std::uint8_t kLong = 255;
  std::vector<std::string> records;
  std::size_t bytes = 0;
  while (!input.empty() && bytes < kMaxBytes) {
    const auto size = input.Take<std::uint8_t>();
    std::string record;
    if (size == kLong) {
      const std::size_t count = input.Take<std::uint16_t>();
      record.assign(count, input.Take<char>());
    } else {
      record = input.TakeBytes(size);
    }
    bytes += record.size();
    records.push_back(record);
  }
  return records;
}

void CheckError(const Status& status) {
  Require(status.ok() || status.IsCorruption() || status.IsNotSupported() || status.IsNotFound() ||
              status.IsPathNotFound(),
          "an unexpected kind of error");
  Require(status.ok() || status.getState() != nullptr, "an error without a message");
}

// Whether all tables of the list are in one of its column families.
void CheckManifest(const files::Manifest& manifest) {
  for (const auto& [number, table] : manifest.tables) {
    Require(manifest.column_families.count(table.column_family) != 0, "a table without family");
  }
}

Status Read() {
  files::Manifest manifest;
  const Status status = files::ReadManifest(*Memory().GetFileSystem(), kDatabase, &manifest);
  CheckError(status);
  CheckManifest(manifest);
  return status;
}

Status Decode(const std::string& record) {
  // In an allocation of its exact size.
  const std::unique_ptr<char[]> bytes(new char[record.size()]);
  std::copy(record.begin(), record.end(), bytes.get());
  files::VersionEdit edit;
  const Status status = files::DecodeVersionEdit({bytes.get(), record.size()}, &edit);
  CheckError(status);
  std::size_t key_bytes = 0;
  for (const auto& [number, table] : edit.added) {
    key_bytes += table.smallest.size() + table.largest.size();
  }
  Require(key_bytes <= record.size(), "the ranges have bytes that are not in the record");
  return status;
}

void CheckRecords(const std::vector<std::string>& records, std::size_t cut) {
  std::string file = WriteRecords(records);
  file.resize(file.size() - std::min(cut, file.size()));
  Write(file, kManifestPath);
  std::vector<std::string> found;
  const auto visit = [&found](const Slice& record) {
    found.push_back(record.ToString());
    return Status::OK();
  };
  const Status status = files::VisitRecords(*Memory().GetFileSystem(), kManifestPath, visit);
  Require(status.ok(), "good records are refused");
  Require(cut != 0 || found.size() == records.size(), "records are lost");
  Require(found.size() <= records.size(), "there are more records than were written");
  Require(std::equal(found.begin(), found.end(), records.begin()), "a record has changed");
  Status first_error = found.empty() ? Status::Corruption("no records") : Status::OK();
  for (const std::string& record : found) {
    const Status decoded = Decode(record);
    if (first_error.ok()) first_error = decoded;
  }
  Require(Read().code() == first_error.code(), "a list is read that has a bad record, or not");
}

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom::fuzz;
  Input input(data, size);
  const auto content = static_cast<Content>(input.Take<std::uint8_t>() % kContents);
  Write("MANIFEST-000001\n", kCurrentPath);
  if (content == kFile) {
    Write(std::string(input.TakeRest()), kManifestPath);
    Read();
  } else if (content == kCurrent) {
    Write("", kManifestPath);
    Write(std::string(input.TakeRest()), kCurrentPath);
    Read();
  } else {
    const std::size_t cut = content == kCutRecords ? input.Take<std::uint16_t>() : 0;
    CheckRecords(TakeRecords(input), cut);
  }
  return 0;
}
