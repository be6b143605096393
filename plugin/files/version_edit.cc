#include "version_edit.h"

#include <cstddef>

#include "coding.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// The comment of each tag says what follows it: v, a varint; b, bytes preceded by their number.
enum Tag : std::uint64_t {
  kComparator = 1,           // b
  kLogNumber = 2,            // v
  kNextFileNumber = 3,       // v
  kLastSequence = 4,         // v
  kCompactCursor = 5,        // v b: level, key
  kDeletedTable = 6,         // v v: level, number
  kAddedTable = 7,           // v v v b b: level, number, bytes, smallest key, largest key
  kPrevLogNumber = 9,        // v
  kMinLogNumberToKeep = 10,  // v
  kAddedTable2 = 100,        // as kAddedTable, and v v: smallest and largest sequence number
  kAddedTable3 = 102,        // as kAddedTable2, with v behind the number: path
  kAddedTable4 = 103,        // as kAddedTable2, and attributes
  kColumnFamily = 200,       // v
  kColumnFamilyAdd = 201,    // b
  kColumnFamilyDrop = 202,
  kMaxColumnFamily = 203,   // v
  kInAtomicGroup = 300,     // v
  kBlobFileAddition = 400,  // v v v b b, and attributes
  kBlobFileGarbage = 401,   // v v v, and attributes
  kIgnorable = 1 << 13,     // a bit of tags whose contents are b, except the following
  kOldBlobFileAddition = kIgnorable + 2,
  kOldBlobFileGarbage = kIgnorable + 3,
  kOldWalAddition = kIgnorable + 4,  // v, and pairs of v v, up to a kWalEnd
  kOldWalDeletion = kIgnorable + 5,  // v
};

// Attributes: pairs of v b, up to one of these.
constexpr std::uint64_t kTableEnd = 1;
constexpr std::uint64_t kBlobFileEnd = 0;
constexpr std::uint64_t kWalEnd = 1;
constexpr std::uint64_t kPathAttribute = 65;
constexpr std::uint64_t kMustBeKnown = 64;  // a bit of a table's attributes

// Removes fields from the front of an edit. After an incomplete one `whole` stays false.
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

  void Skip(const char* form) {
    for (; *form != 0; ++form) {
      if (*form == 'v') Varint();
      if (*form == 'b') Bytes();
    }
  }

  void SkipAttributes(std::uint64_t end) {
    while (whole && Varint() != end) Bytes();
  }

  bool whole = true;

 private:
  Slice rest_;
};

Status TakeAddedTable(std::uint64_t tag, Fields* fields, VersionEdit* edit) {
  VersionEdit::AddedTable table;
  table.level = static_cast<int>(fields->Varint());
  table.number = fields->Varint();
  if (tag == kAddedTable3) table.path = static_cast<std::uint32_t>(fields->Varint());
  table.bytes = fields->Varint();
  fields->Skip(tag == kAddedTable ? "bb" : "bbvv");
  while (tag == kAddedTable4 && fields->whole) {
    const std::uint64_t attribute = fields->Varint();
    if (attribute == kTableEnd) break;
    const Slice value = fields->Bytes();
    if (attribute == kPathAttribute && value.size() == 1) {
      table.path = static_cast<unsigned char>(value[0]);
    } else if ((attribute & kMustBeKnown) != 0) {
      return Status::NotSupported("a table with an attribute of a later RocksDB");
    }
  }
  edit->added.push_back(table);
  return Status::OK();
}

// Skips what does not concern the tables.
Status SkipField(std::uint64_t tag, Fields* fields) {
  switch (tag) {
    case kLogNumber:
    case kNextFileNumber:
    case kLastSequence:
    case kPrevLogNumber:
    case kMinLogNumberToKeep:
    case kMaxColumnFamily:
    case kOldWalDeletion:
      fields->Varint();
      return Status::OK();
    case kCompactCursor:
      fields->Skip("vb");
      return Status::OK();
    case kBlobFileAddition:
    case kOldBlobFileAddition:
      fields->Skip("vvvbb");
      fields->SkipAttributes(kBlobFileEnd);
      return Status::OK();
    case kBlobFileGarbage:
    case kOldBlobFileGarbage:
      fields->Skip("vvv");
      fields->SkipAttributes(kBlobFileEnd);
      return Status::OK();
    case kOldWalAddition:
      fields->Varint();
      while (fields->whole && fields->Varint() != kWalEnd) fields->Varint();
      return Status::OK();
    default:
      if ((tag & kIgnorable) == 0) return Status::NotSupported("a field of a later RocksDB");
      fields->Bytes();
      return Status::OK();
  }
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
      edit->in_group = true;
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
  return fields.whole ? status : Status::Corruption("an edit is cut off");
}

}  // namespace exactbloom::files
