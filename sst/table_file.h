// An SSTable as a file of blocks.
//
//   data blocks, filter blocks, index, properties ... , metaindex, footer
//
// The footer locates the metaindex, and the metaindex locates every other meta block by name. Each
// block is followed by its compression type (one byte) and a checksum of the block and that byte.
// RocksDB has no public function that reads filter blocks. This class accepts any bytes: it reads
// nothing outside the file, no block that is larger than those of its kind are, and holds at most
// one block in memory.
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "footer.h"

namespace exactbloom::files {

// Of blocks with names and handles: the metaindex, properties, and the index of partitions, of
// which a table with five billion keys has a million.
inline constexpr std::uint64_t kMostNameBlockBytes = std::uint64_t{64} << 20;

// The contents of a block.
class BlockContents {
 public:
  rocksdb::Slice Bytes() const { return {data_.get(), size_}; }

 private:
  friend class TableFile;
  std::unique_ptr<char[]> data_;  // the contents and the trailer
  std::size_t size_ = 0;          // of the contents
};

class TableFile {
 public:
  // Reads footer and metaindex. The table file must not outlive `file_system`.
  // Errors, here and below, name the file: those of the file system, NotSupported for files that
  // are not block-based tables of a known version, and Corruption.
  static rocksdb::Status Open(rocksdb::FileSystem& file_system, const std::string& path,
                              std::unique_ptr<TableFile>* file);

  std::uint64_t FileBytes() const { return file_bytes_; }

  std::uint32_t FormatVersion() const { return footer_.format_version; }

  // The meta blocks by name.
  const std::map<std::string, BlockHandle>& MetaBlocks() const { return meta_blocks_; }

  // Reads the table's properties by name; numbers are varints. None if the table has no such block.
  rocksdb::Status ReadProperties(std::map<std::string, std::string>* properties) const;

  // Returns a property that is a number; 0 if the table does not have it.
  static std::uint64_t NumberIn(const std::map<std::string, std::string>& properties,
                                const std::string& name);

  // Reads an uncompressed block and verifies its checksum. A block of more than `most_bytes` is
  // Corruption.
  rocksdb::Status ReadBlock(const BlockHandle& handle, BlockContents* contents,
                            std::uint64_t most_bytes = kMostNameBlockBytes) const;

  // Prepends the file's name to the message of a Corruption or NotSupported.
  rocksdb::Status Named(const rocksdb::Status& status) const;

 private:
  TableFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::string path,
            std::uint64_t file_bytes);

  rocksdb::Status ReadMetaindex();
  // Fills `scratch` with all `count` bytes at `offset`.
  rocksdb::Status Read(std::uint64_t offset, std::size_t count, char* scratch) const;
  rocksdb::Status ReadUnverified(const BlockHandle& handle, BlockContents* contents,
                                 std::uint64_t most_bytes) const;
  rocksdb::Status Verify(const BlockHandle& handle, const BlockContents& contents) const;

  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  std::string path_;
  std::uint64_t file_bytes_;
  Footer footer_;
  std::map<std::string, BlockHandle> meta_blocks_;
};

}  // namespace exactbloom::files
