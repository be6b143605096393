#include "level_compaction.h"

#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "../files/table_file.h"

namespace exactbloom {
namespace {

using rocksdb::Comparator;
using rocksdb::SstFileMetaData;

// Whether `left` ends before `right` begins.
bool EndsBefore(const SstFileMetaData& left, const SstFileMetaData& right,
                const Comparator& comparator) {
  return comparator.CompareWithoutTimestamp(left.largestkey, right.smallestkey) < 0;
}

// In level 0 only the last table of a tree of one level; elsewhere ranges that overlap no table
// below.
bool IsBottommost(const rocksdb::ColumnFamilyMetaData& family, int level,
                  const SstFileMetaData& first, const SstFileMetaData& last,
                  const Comparator& comparator) {
  return std::all_of(family.levels.begin(), family.levels.end(), [&](const auto& below) {
    if (below.level < level) return true;
    if (below.level == level) {
      return level > 0 || below.files.back().file_number == last.file_number;
    }
    if (level == 0) return below.files.empty();
    return std::all_of(below.files.begin(), below.files.end(), [&](const SstFileMetaData& file) {
      return EndsBefore(file, first, comparator) || EndsBefore(last, file, comparator);
    });
  });
}

CompactionInput InputOfRange(const rocksdb::LevelMetaData& level, std::size_t table,
                             std::size_t first, std::size_t last) {
  CompactionInput input;
  input.level = level.level;
  input.directory = level.files[table].directory;
  for (std::size_t i = first; i <= last; ++i) {
    const SstFileMetaData& file = level.files[i];
    input.paths.push_back(file.directory + "/" + file.relative_filename);
    input.tables.emplace_back(file.file_number, file.size);
    input.bytes += file.size;
    input.largest_file = std::max<std::uint64_t>(input.largest_file, file.size);
    input.being_compacted = input.being_compacted || file.being_compacted;
  }
  return input;
}

// The number of the column family's path that is `directory`; the first if none is.
int PathId(const rocksdb::Options& options, const std::string& directory) {
  const auto& paths = options.cf_paths;
  const auto found = std::find_if(paths.begin(), paths.end(),
                                  [&](const auto& path) { return path.path == directory; });
  return found == paths.end() ? 0 : static_cast<int>(found - paths.begin());
}

bool HasChecksums(const std::string& path, const rocksdb::Options& options) {
  std::unique_ptr<files::TableFile> file;
  return files::TableFile::Open(*options.env->GetFileSystem(), path, &file).ok() &&
         file->HasChecksums();
}

// Decodes every entry, unless an iterator over a single table cannot: merge operands may lack their
// base value, and reading timestamps needs an upper bound.
rocksdb::Status ReadThrough(rocksdb::SstFileReader& reader, const Comparator& comparator) {
  if (reader.GetTableProperties()->num_merge_operands != 0 || comparator.timestamp_size() != 0) {
    return rocksdb::Status::OK();
  }
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> entry(reader.NewIterator(options));
  for (entry->SeekToFirst(); entry->Valid();) entry->Next();
  return entry->status();
}

}  // namespace

std::optional<CompactionInput> CompactionInputOf(const rocksdb::ColumnFamilyMetaData& family,
                                                 std::uint64_t number,
                                                 const Comparator& comparator) {
  for (const rocksdb::LevelMetaData& level : family.levels) {
    const auto& files = level.files;
    const auto found = std::find_if(files.begin(), files.end(), [number](const auto& file) {
      return file.file_number == number;
    });
    if (found == files.end()) continue;
    const auto table = static_cast<std::size_t>(found - files.begin());
    std::size_t first = table;
    std::size_t last = table;
    if (level.level > 0) {
      while (first > 0 && !EndsBefore(files[first - 1], files[first], comparator)) --first;
      while (last + 1 < files.size() && !EndsBefore(files[last], files[last + 1], comparator)) {
        ++last;
      }
    }
    CompactionInput input = InputOfRange(level, table, first, last);
    input.bottommost = IsBottommost(family, level.level, files[first], files[last], comparator);
    return input;
  }
  return std::nullopt;
}

std::string FindDamage(const CompactionInput& input, const rocksdb::Options& options) {
  for (const std::string& path : input.paths) {
    rocksdb::SstFileReader reader(options);
    rocksdb::Status status = reader.Open(path);
    if (status.ok()) status = reader.VerifyChecksum();
    if (status.ok() && !HasChecksums(path, options))
      status = ReadThrough(reader, *options.comparator);
    // The compaction handles other errors; another compaction may have deleted the file.
    if (status.IsCorruption()) return path;
  }
  return "";
}

rocksdb::Status CompactWithinLevel(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                   const rocksdb::Options& options, const CompactionInput& input,
                                   std::vector<std::string>* outputs) {
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // as in the column family
  compaction.max_subcompactions = 1;                            // each would write its own table
  if (input.paths.size() > 1) compaction.output_file_size_limit = input.largest_file;
  return db.CompactFiles(compaction, &family, input.paths, input.level,
                         PathId(options, input.directory), outputs);
}

}  // namespace exactbloom
