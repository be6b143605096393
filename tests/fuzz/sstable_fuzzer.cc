// SSTables with changed bytes, read by ExactBloom's own reader: it refuses changed data that have a
// checksum, and any filter block makes a view that answers. What RocksDB does with such tables is
// tested in tests/faults/random_faults_test.cc.
//
// An input is a kind of change, and either the bytes of a table, or the number of a written table,
// flags for repairs, and changes: each an offset and a byte.
#include <rocksdb/env.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "input.h"
#include "src/filter/block_format.h"
#include "sst/block_checksum.h"
#include "sst/table_filter_blocks.h"
#include "sst/table_filters.h"

namespace exactbloom::fuzz {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Status;

enum Mending : unsigned { kMendTrailer = 1, kMendBlock = 2 };

constexpr int kKeys = 48;  // those of even numbers are in the tables
constexpr char kPath[] = "/table.sst";

std::string KeyOf(int number) { return "key " + std::to_string(100 + number); }

rocksdb::Env& Memory() {
  static rocksdb::Env& memory = *rocksdb::NewMemEnv(rocksdb::Env::Default());
  return memory;
}

BlockBasedTableOptions TableOptions(BloomKind kind, rocksdb::ChecksumType checksum,
                                    bool partitioned, std::uint32_t format_version = 5) {
  BlockBasedTableOptions table_options;
  table_options.filter_policy =
      NewFilterPolicy(kind == BloomKind::kClassic ? "classic_bloom:10" : "standard_bloom:10");
  table_options.checksum = checksum;
  table_options.format_version = format_version;
  table_options.block_size = 128;
  if (partitioned) {
    table_options.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    table_options.partition_filters = true;
    table_options.metadata_block_size = 64;
  }
  return table_options;
}

// ExactBloom's reading of a table, and its filter blocks.
struct Reading {
  TableFilter filter;
  std::vector<std::string> blocks;
};

Reading Read(const std::string& bytes) {
  Require(rocksdb::WriteStringToFile(&Memory(), bytes, kPath).ok(), "the table is not written");
  Reading reading;
  const auto visit = [&reading](rocksdb::Slice block) {
    reading.blocks.push_back(block.ToString());
    const FilterView view({block.data(), block.size()});
    for (int number = 0; number < kKeys; ++number) {
      const bool answer = view.MayContain(KeyOf(number));
      Require(answer || view.Status() == BlockStatus::kUsable,
              "a block is read that is not usable");
    }
  };
  const Status status = ReadTableFilter(*Memory().GetFileSystem(), kPath, &reading.filter, visit);
  Require(status.ok() || status.getState() != nullptr, "an error without a message");
  return reading;
}

struct Table {
  explicit Table(const BlockBasedTableOptions& table_options) : checksum(table_options.checksum) {
    rocksdb::Options options;
    options.env = &Memory();
    options.compression = rocksdb::kNoCompression;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
    rocksdb::SstFileWriter writer({}, options);
    Require(writer.Open(kPath).ok(), "the table is not opened");
    for (int number = 0; number < kKeys; number += 2) {
      Require(writer.Put(KeyOf(number), "value").ok(), "a key is not written");
    }
    Require(writer.Finish().ok() && rocksdb::ReadFileToString(&Memory(), kPath, &bytes).ok(),
            "the table is not written");
    std::unique_ptr<files::TableFile> file;
    files::FilterBlockList blocks;
    Require(files::TableFile::Open(*Memory().GetFileSystem(), kPath, &file).ok() &&
                blocks.Open(*file, files::FindFilter(*file)).ok(),
            "the filter blocks are not found");
    while (!blocks.AtEnd()) {
      files::IndexEntry entry;
      Require(blocks.Next(&entry).ok(), "a filter block is not found");
      filter_blocks.push_back(entry.handle);
    }
    Require(!filter_blocks.empty(), "the table has no filter");
    reading = Read(bytes);
  }

  rocksdb::ChecksumType checksum;
  std::string bytes;
  std::vector<files::BlockHandle> filter_blocks;
  Reading reading;
};

const Table& TableOf(std::size_t number) {
  static const std::vector<Table> tables = {
      Table(TableOptions(BloomKind::kClassic, rocksdb::kXXH3, false)),
      Table(TableOptions(BloomKind::kStandard, rocksdb::kCRC32c, true)),
      Table(TableOptions(BloomKind::kClassic, rocksdb::kxxHash64, false)),
      // The index of partitions has internal keys, and no delta encoding.
      Table(TableOptions(BloomKind::kStandard, rocksdb::kxxHash, true, 2)),
      Table(TableOptions(BloomKind::kClassic, rocksdb::kNoChecksum, true))};
  return tables[number % tables.size()];
}

class ChangedTable {
 public:
  ChangedTable(const Table& table, unsigned mending, Input& input)
      : table_(table), mending_(mending), bytes_(table.bytes) {
    enum Where : std::uint8_t { kAnywhere, kBeforeFooter, kFilter };
    const std::size_t footer = bytes_.size() - files::kMaxFooterBytes;
    Require(footer > 0, "the table is empty");
    while (!input.empty()) {
      const auto where = static_cast<Where>(input.Take<std::uint8_t>() % 3);
      const std::size_t offset = input.Take<std::uint16_t>();
      const char byte = input.Take<char>();
      if (where == kFilter) {
        ChangeFilter(offset, byte);
      } else {
        const std::size_t place =
            offset % (where == kAnywhere ? footer + files::kMaxFooterBytes : footer);
        Change(place, byte);
        footer_changed_ = footer_changed_ || (byte != 0 && place >= footer);
      }
    }
    for (const std::size_t number : changed_filters_) Mend(number);
  }

  const std::string& Bytes() const { return bytes_; }

  // Whether a checksum guards each change.
  bool IsGuarded() const {
    return table_.checksum != rocksdb::kNoChecksum &&
           (changed_filters_.empty() || (mending_ & kMendBlock) == 0) && !footer_changed_;
  }

 private:
  void Change(std::size_t offset, char byte) {
    bytes_[offset] = static_cast<char>(bytes_[offset] ^ byte);
  }

  // Counted through all filter blocks, from the end of each, where the trailers are.
  void ChangeFilter(std::size_t offset, char byte) {
    const std::size_t blocks = table_.filter_blocks.size();
    const files::BlockHandle& handle = table_.filter_blocks[offset % blocks];
    Change(handle.offset + handle.size - 1 - offset / blocks % handle.size, byte);
    changed_filters_.insert(offset % blocks);
  }

  void Mend(std::size_t number) {
    const files::BlockHandle& handle = table_.filter_blocks[number];
    char* block = bytes_.data() + handle.offset;
    const std::size_t trailer_bytes = filter::TrailerBytesOf({block, handle.size});
    if ((mending_ & kMendTrailer) != 0 && trailer_bytes != 0) {
      StoreFixed32(filter::ChecksumOf({block, handle.size}, trailer_bytes),
                   block + handle.size - filter::kChecksumFromEnd);
    }
    if ((mending_ & kMendBlock) != 0 && table_.checksum != rocksdb::kNoChecksum) {
      const std::size_t checked = handle.size + 1;  // with the type of the compression
      StoreFixed32(files::BlockChecksum(table_.checksum, {block, checked}), block + checked);
    }
  }

  static void StoreFixed32(std::uint32_t number, char* bytes) {
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  }

  const Table& table_;
  unsigned mending_;
  std::string bytes_;
  bool footer_changed_ = false;
  std::set<std::size_t> changed_filters_;
};

void Check(const Table& written, const ChangedTable& table) {
  const Reading changed = Read(table.Bytes());
  if (!table.IsGuarded() || !changed.filter.status.ok()) return;
  Require(changed.blocks == written.reading.blocks, "a changed filter block passes for whole");
  const TableFilter& a = changed.filter;
  const TableFilter& b = written.reading.filter;
  Require(a.family == b.family && a.entries == b.entries && a.policy == b.policy &&
              a.filter_keys == b.filter_keys && a.bits == b.bits && a.keys == b.keys,
          "a changed table is described otherwise");
}

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom::fuzz;
  Input input(data, size);
  constexpr int kWholeFile = 1;
  if (input.Take<std::uint8_t>() % 4 == kWholeFile) {
    Read(std::string(input.TakeRest()));
    return 0;
  }
  const Table& table = TableOf(input.Take<std::uint8_t>());
  const unsigned mending = input.Take<std::uint8_t>();
  Check(table, ChangedTable(table, mending, input));
  return 0;
}
