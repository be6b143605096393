#include <cstddef>
#include <string>
#include <utility>

#include "coding.h"
#include "manifest.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// The comments list what follows each tag: v, a varint; b, a byte string after its length.
enum Tag : std::uint64_t {
  kComparator = 1,         // b
  kDeletedTable = 6,       // v v: level, number
  kAddedTable = 7,         // v v v b b: level, number, bytes, smallest and largest internal key
  kAddedTable2 = 100,      // as kAddedTable, and v v: smallest and largest sequence number
  kAddedTable3 = 102,      // as kAddedTable2, with v behind the number: path
  kAddedTable4 = 103,      // as kAddedTable2, and attributes
  kColumnFamily = 200,     // v
  kColumnFamilyAdd = 201,  // b
  kColumnFamilyDrop = 202,
  kInAtomicGroup = 300,  // v
  kIgnorable = 1 << 13,  // a bit of tags with contents b, except some of kSkipped
};

// Fields that do not concern the tables. In their forms, a stands for attributes up to
// kBlobFileEnd, and w for pairs of v v up to kWalEnd.
struct SkippedField {
  std::uint64_t tag;
  const char* form;
};
constexpr SkippedField kSkipped[] = {
    {2, "v"},                    // log number
    {3, "v"},                    // next file number
    {4, "v"},                    // last sequence number
    {5, "vb"},                   // where the next compaction starts: level, key
    {9, "v"},                    // previous log number
    {10, "v"},                   // least log number to keep
    {203, "v"},                  // largest id of a column family
    {400, "vvvbba"},             // a blob file
    {401, "vvva"},               // garbage in one
    {kIgnorable + 2, "vvvbba"},  // both, as older versions write them
    {kIgnorable + 3, "vvva"},
    {kIgnorable + 4, "vw"},  // a write-ahead log, as older versions write it
    {kIgnorable + 5, "v"},   // its end
};

// Attributes: pairs of v b, up to one of these.
constexpr std::uint64_t kTableEnd = 1;
constexpr std::uint64_t kBlobFileEnd = 0;
constexpr std::uint64_t kWalEnd = 1;
constexpr std::uint64_t kPathAttribute = 65;
constexpr std::uint64_t kMustBeKnown = 64;  // a bit of a table's attributes

// Takes fields from the front of an edit. `whole` becomes false at the first incomplete one.
class Fields {
 public:
  explicit Fields(const Slice& bytes) : rest_(bytes) {}

  bool More() const { return whole && !rest_.empty(); }

  std::uint64_t Varint() {
    std::uint64_t value = 0;
    whole = whole && TakeVarint(&rest_, &value);
    return whole ? value : 0;
  }

  Slice Bytes() {
    const std::uint64_t size = Varint();
    whole = whole && size <= rest_.size();
    if (!whole) return {};
    const Slice bytes(rest_.data(), static_cast<std::size_t>(size));
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

  // An internal key without its sequence number and type.
  std::string UserKey() {
    constexpr std::size_t kSequenceBytes = 8;
    const Slice key = Bytes();
    whole = whole && key.size() >= kSequenceBytes;
    return whole ? std::string(key.data(), key.size() - kSequenceBytes) : "";
  }

  void Skip(const char* form) {
    for (; *form != 0; ++form) {
      if (*form == 'v') Varint();
      if (*form == 'b') Bytes();
      while (*form == 'a' && whole && Varint() != kBlobFileEnd) Bytes();
      while (*form == 'w' && whole && Varint() != kWalEnd) Varint();
    }
  }

  bool whole = true;

 private:
  Slice rest_;
};

Status TakeAddedTable(std::uint64_t tag, Fields* fields, VersionEdit* edit) {
  ManifestTable table;
  table.level = static_cast<int>(fields->Varint());
  const std::uint64_t number = fields->Varint();
  fields->Skip(tag == kAddedTable3 ? "vv" : "v");  // a path, the bytes of the file
  table.smallest = fields->UserKey();
  table.largest = fields->UserKey();
  if (tag != kAddedTable) {
    fields->Skip("v");
    table.largest_sequence = fields->Varint();
  }
  while (tag == kAddedTable4 && fields->whole) {
    const std::uint64_t attribute = fields->Varint();
    if (attribute == kTableEnd) break;
    fields->Bytes();
    if ((attribute & kMustBeKnown) != 0 && attribute != kPathAttribute) {
      return Status::NotSupported("a table has an attribute of a later RocksDB",
                                  std::to_string(attribute));
    }
  }
  edit->added.emplace_back(number, std::move(table));
  return Status::OK();
}

Status SkipField(std::uint64_t tag, Fields* fields) {
  for (const SkippedField& field : kSkipped) {
    if (field.tag != tag) continue;
    fields->Skip(field.form);
    return Status::OK();
  }
  if ((tag & kIgnorable) == 0) {
    return Status::NotSupported("a field of a later RocksDB", std::to_string(tag));
  }
  fields->Bytes();
  return Status::OK();
}

Status TakeField(Fields* fields, VersionEdit* edit) {
  const std::uint64_t tag = fields->Varint();
  switch (tag) {
    case kComparator:
      edit->comparator = fields->Bytes().ToString();
      return Status::OK();
    case kDeletedTable: {
      const int level = static_cast<int>(fields->Varint());
      edit->deleted.emplace_back(level, fields->Varint());
      return Status::OK();
    }
    case kAddedTable:
    case kAddedTable2:
    case kAddedTable3:
    case kAddedTable4:
      return TakeAddedTable(tag, fields, edit);
    case kColumnFamily:
      edit->column_family = static_cast<std::uint32_t>(fields->Varint());
      return Status::OK();
    case kColumnFamilyAdd:
      edit->adds_family = true;
      edit->family_name = fields->Bytes().ToString();
      return Status::OK();
    case kColumnFamilyDrop:
      edit->drops_family = true;
      return Status::OK();
    case kInAtomicGroup:
      edit->group_edits_left = fields->Varint();
      return Status::OK();
    default:
      return SkipField(tag, fields);
  }
}

}  // namespace

Status DecodeVersionEdit(Slice bytes, VersionEdit* edit) {
  *edit = VersionEdit();
  Fields fields(bytes);
  Status status;
  while (status.ok() && fields.More()) status = TakeField(&fields, edit);
  return fields.whole ? status : Status::Corruption("an edit is truncated");
}

}  // namespace exactbloom::files
