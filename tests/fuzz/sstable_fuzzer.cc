// SSTables with changed bytes.
//
// ExactBloom's own reader gets any table, changed anywhere. It refuses changed data that have a
// checksum, and any filter block makes a view that answers.
//
// RocksDB gets only changes that its checksums detect, since it does not claim to survive others:
// anywhere before the footer with unchanged checksums, and in ExactBloom's filter blocks also with
// a corrected block checksum, as from a faulty writer. A lookup then finds the key's value or
// returns an error. Only a filter block with a corrected checksum may hide a key, and only if
// ExactBloom's view of it denies the key.
//
// An input is a reader (Way), a table, flags for repairs, and changes: each an offset and a byte.
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/table_filters.h"
#include "hostile_database.h"
#include "input.h"
#include "plugin/files/block_checksum.h"
#include "src/filter/block_format.h"

namespace exactbloom::fuzz {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Slice;
using rocksdb::Status;

enum Way : std::uint8_t { kOurReader, kWholeFile, kRocksDb, kRocksDbOpen, kWays };
enum Mending : unsigned { kMendTrailer = 1, kMendBlock = 2 };

constexpr char kPath[] = "/table.sst";

BlockBasedTableOptions TableOptions(Layout layout, rocksdb::ChecksumType checksum, bool partitioned,
                                    std::uint32_t format_version = 5) {
  BloomFilterPolicyOptions options;
  options.lines = layout.Lines();
  BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(layout.kind == FilterKind::kClassic
                                        ? NewClassicBloomFilterPolicy(options)
                                        : NewStandardBloomFilterPolicy(options));
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

// Never destroyed, since their threads run until the process ends.
HostileDatabase& DatabaseOf(std::size_t number) {
  static const std::vector<HostileDatabase*>& databases = *new std::vector<HostileDatabase*>{
      new HostileDatabase(TableOptions({FilterKind::kClassic, 0}, rocksdb::kXXH3, false)),
      new HostileDatabase(TableOptions({FilterKind::kStandard, 1}, rocksdb::kCRC32c, true)),
      new HostileDatabase(TableOptions({FilterKind::kClassic, 1}, rocksdb::kxxHash64, false)),
      // The index of partitions has internal keys, and no delta encoding.
      new HostileDatabase(TableOptions({FilterKind::kStandard, 0}, rocksdb::kxxHash, true, 2)),
      // Only for ExactBloom's reader: no checksum guards it.
      new HostileDatabase(TableOptions({FilterKind::kClassic, 1}, rocksdb::kNoChecksum, true))};
  return *databases[number % databases.size()];
}

class ChangedTable {
 public:
  ChangedTable(const HostileDatabase& database, unsigned mending, Input& input)
      : database_(database), mending_(mending), bytes_(database.Bytes()) {
    enum Where : std::uint8_t { kAnywhere, kBeforeFooter, kFilter };
    while (!input.empty()) {
      const auto where = static_cast<Where>(input.Take<std::uint8_t>() % 3);
      const std::size_t offset = input.Take<std::uint16_t>();
      const char byte = input.Take<char>();
      if (where == kFilter) {
        ChangeFilter(offset, byte);
      } else {
        Change(offset % (where == kAnywhere ? bytes_.size() : FooterOffset()), byte);
      }
    }
    for (const std::size_t number : changed_filters_) Mend(number);
  }

  const std::string& Bytes() const { return bytes_; }
  bool IsFooterChanged() const { return footer_changed_; }
  bool ArePropertiesChanged() const { return properties_changed_; }

  // Whether no checksum was corrected.
  bool IsGuarded() const {
    return database_.Checksum() != rocksdb::kNoChecksum &&
           (changed_filters_.empty() || (mending_ & kMendBlock) == 0) && !footer_changed_;
  }

  // Whether a filter with a corrected checksum may deny the key.
  bool MayHide(const std::string& key) const {
    if ((mending_ & kMendBlock) == 0) return false;
    const auto& blocks = database_.Map().filter_blocks;
    const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const auto& block) {
      return block.key.empty() || block.key >= key;
    });
    const BloomFilterView view(Contents(at == blocks.end() ? blocks.back() : *at));
    // RocksDB's own reader decides on foreign blocks.
    return view.Status() == BlockStatus::kForeign || !view.MayContain(key);
  }

 private:
  std::size_t FooterOffset() const { return database_.Map().footer_offset; }

  std::string_view Contents(const files::IndexEntry& block) const {
    return std::string_view(bytes_).substr(block.handle.offset, block.handle.size);
  }

  void Change(std::size_t offset, char byte) {
    bytes_[offset] = static_cast<char>(bytes_[offset] ^ byte);
    if (byte == 0) return;
    const files::BlockHandle& properties = database_.Map().properties;
    if (offset >= FooterOffset()) footer_changed_ = true;
    if (offset >= properties.offset &&
        offset < properties.offset + properties.size + files::kBlockTrailerBytes) {
      properties_changed_ = true;
    }
  }

  // Counted through all filter blocks, from the end of each, where the trailers are.
  void ChangeFilter(std::size_t offset, char byte) {
    const auto& blocks = database_.Map().filter_blocks;
    const std::size_t number = offset % blocks.size();
    const files::BlockHandle& handle = blocks[number].handle;
    const std::size_t from_end = offset / blocks.size() % handle.size;
    Change(handle.offset + handle.size - 1 - from_end, byte);
    changed_filters_.insert(number);
  }

  void Mend(std::size_t number) {
    const files::BlockHandle& handle = database_.Map().filter_blocks[number].handle;
    char* block = bytes_.data() + handle.offset;
    const std::size_t trailer_bytes = filter::TrailerBytesOf({block, handle.size});
    if ((mending_ & kMendTrailer) != 0 && trailer_bytes != 0) {
      StoreFixed32(filter::ChecksumOf({block, handle.size}, trailer_bytes),
                   block + handle.size - filter::kChecksumFromEnd);
    }
    if ((mending_ & kMendBlock) != 0 && database_.Checksum() != rocksdb::kNoChecksum) {
      const std::size_t checked = handle.size + 1;
      // The compression type. RocksDB asserts that it knows that of a block with a correct
      // checksum.
      block[handle.size] = rocksdb::kNoCompression;
      StoreFixed32(files::BlockChecksum(database_.Checksum(), {block, checked}), block + checked);
    }
  }

  static void StoreFixed32(std::uint32_t number, char* bytes) {
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  }

  const HostileDatabase& database_;
  unsigned mending_;
  std::string bytes_;
  bool footer_changed_ = false;
  bool properties_changed_ = false;
  std::set<std::size_t> changed_filters_;
};

// ExactBloom's reading of a table, and the answers of its filter blocks.
struct Reading {
  TableFilter filter;
  std::vector<std::string> blocks;
};

Reading ReadWithOurs(const std::string& bytes) {
  static rocksdb::Env& memory = *rocksdb::NewMemEnv(rocksdb::Env::Default());
  Require(rocksdb::WriteStringToFile(&memory, bytes, kPath).ok(), "the table is not written");
  Reading reading;
  const auto visit = [&reading](Slice block) {
    reading.blocks.push_back(block.ToString());
    const BloomFilterView view({block.data(), block.size()});
    for (int number = 0; number < HostileDatabase::kKeys; ++number) {
      const bool answer = view.MayContain(HostileDatabase::KeyOf(number));
      Require(answer || view.Status() == BlockStatus::kUsable,
              "a block is read that is not usable");
    }
  };
  const Status status = ReadTableFilter(*memory.GetFileSystem(), kPath, &reading.filter, visit);
  Require(status.ok() || status.getState() != nullptr, "an error without a message");
  return reading;
}

void CheckWithOurs(const HostileDatabase& database, const ChangedTable& table) {
  const Reading changed = ReadWithOurs(table.Bytes());
  if (!table.IsGuarded() || !changed.filter.status.ok()) return;
  const Reading written = ReadWithOurs(database.Bytes());
  Require(changed.blocks == written.blocks, "a changed filter block passes for whole");
  const TableFilter& a = changed.filter;
  const TableFilter& b = written.filter;
  Require(a.family == b.family && a.entries == b.entries && a.policy == b.policy &&
              a.filter_keys == b.filter_keys && a.bits == b.bits && a.keys == b.keys,
          "a changed table is described otherwise");
}

bool IsAnswered(const Status& status, const std::string& value, int number) {
  if (status.ok()) return number % 2 == 0 && value == HostileDatabase::ValueOf(number);
  return status.IsNotFound() ? number % 2 == 1 : true;
}

void CheckLookups(rocksdb::DB& db, const ChangedTable& table) {
  std::vector<std::string> keys;
  for (int i = 0; i < HostileDatabase::kKeys; ++i) keys.push_back(HostileDatabase::KeyOf(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db.MultiGet({}, db.DefaultColumnFamily(), slices.size(), slices.data(), values.data(),
              statuses.data());
  for (int number = 0; number < HostileDatabase::kKeys; ++number) {
    const auto i = static_cast<std::size_t>(number);
    const bool hidden = table.MayHide(keys[i]);
    Require(IsAnswered(statuses[i], values[i].ToString(), number) ||
                (hidden && statuses[i].IsNotFound()),
            "MultiGet has a wrong answer: " + statuses[i].ToString());
    std::string value;
    const Status status = db.Get({}, keys[i], &value);
    Require(IsAnswered(status, value, number) || (hidden && status.IsNotFound()),
            "Get has a wrong answer: " + status.ToString());
  }
}

void CheckWithRocksDb(HostileDatabase& database, const ChangedTable& table, bool opens) {
  if (table.IsFooterChanged() || database.Checksum() == rocksdb::kNoChecksum) return;
  database.Replace(table.Bytes());
  if (!opens) return CheckLookups(database.Open(), table);
  // RocksDB 7.8 compares the checksum of the properties only after parsing them.
  if (table.ArePropertiesChanged()) return;
  const std::unique_ptr<rocksdb::DB> again = database.OpenAgain();
  if (again != nullptr) CheckLookups(*again, table);
}

}  // namespace
}  // namespace exactbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace exactbloom::fuzz;
  Input input(data, size);
  const auto way = static_cast<Way>(input.Take<std::uint8_t>() % kWays);
  if (way == kWholeFile) {
    ReadWithOurs(std::string(input.TakeRest()));
    return 0;
  }
  HostileDatabase& database = DatabaseOf(input.Take<std::uint8_t>());
  const unsigned mending = input.Take<std::uint8_t>();
  const ChangedTable table(database, mending, input);
  if (way == kOurReader) {
    CheckWithOurs(database, table);
  } else {
    CheckWithRocksDb(database, table, way == kRocksDbOpen);
  }
  return 0;
}
