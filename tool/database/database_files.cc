#include "database_files.h"

#include <fmt/format.h>
#include <rocksdb/comparator.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <string_view>
#include <system_error>
#include <tuple>

#include "sst/manifest.h"
#include "sst/regular_files.h"
#include "support/errors.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

namespace fs = std::filesystem;

std::string WithoutTrailingSlash(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  return last == std::string::npos ? path : path.substr(0, last + 1);
}

// The table file in the first of the directories that has it.
std::string PathOf(std::uint64_t number, const std::vector<std::string>& directories) {
  const std::string name = fmt::format("/{:06}.sst", number);
  const auto has_it = [&name](const std::string& directory) {
    std::error_code ignored;
    return fs::exists(directory + name, ignored);
  };
  const auto place = directories.size() == 1
                         ? directories.begin()
                         : std::find_if(directories.begin(), directories.end(), has_it);
  return WithoutTrailingSlash(place == directories.end() ? directories.front() : *place) + name;
}

TableListing ListDatabase(const std::vector<std::string>& directories) {
  for (std::size_t i = 1; i < directories.size(); ++i) {
    if (!fs::exists(directories[i] + "/CURRENT")) continue;
    throw support::InputError(directories[i] + " is another database: give one");
  }
  TableListing listing;
  listing.database = WithoutTrailingSlash(directories.front());
  files::Manifest manifest;
  const rocksdb::Status status =
      files::ReadManifest(*files::RegularFiles(), listing.database, &manifest);
  if (status.IsNotFound()) {
    throw support::InputError(
        fmt::format("{} is not a RocksDB database: it has no file CURRENT", listing.database));
  }
  if (!status.ok()) {
    throw support::InputError(
        fmt::format("the tables of {} cannot be listed: {}", listing.database, Describe(status)));
  }
  for (const auto& [number, table] : manifest.tables) {
    const files::LiveColumnFamily& family = manifest.column_families[table.column_family];
    listing.tables.push_back(
        {{table.level, table.smallest, table.largest, table.largest_sequence, number},
         PathOf(number, directories),
         family.name,
         family.comparator});
  }
  std::sort(listing.tables.begin(), listing.tables.end(), [](const auto& a, const auto& b) {
    return std::tie(a.column_family, a.level, a.number) <
           std::tie(b.column_family, b.level, b.number);
  });
  return listing;
}

}  // namespace

model::KeyOrder OrderOf(const std::string& comparator) {
  if (comparator == rocksdb::BytewiseComparator()->Name()) return model::CompareBytes;
  if (comparator != rocksdb::ReverseBytewiseComparator()->Name()) return nullptr;
  return [](std::string_view one, std::string_view other) { return other.compare(one); };
}

TableListing ListTables(const std::vector<std::string>& paths) {
  std::size_t directories = 0;
  TableListing listing;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      throw support::InputError(fmt::format("{}: {}", path, error ? error.message() : "not found"));
    }
    if (fs::is_directory(status)) ++directories;
    listing.tables.emplace_back().path = path;
  }
  if (directories == 0) {
    for (const std::string& path : paths) {
      if (fs::path(path).extension() == ".sst") continue;
      throw support::InputError(path +
                                " is neither a database's directory nor a table file (.sst)");
    }
    return listing;
  }
  if (directories == paths.size()) return ListDatabase(paths);
  throw support::InputError("directories and files: give one database, or table files");
}

std::string WhyNoTables(const std::string& database) {
  std::uint64_t log_bytes = 0;
  std::uint64_t table_files = 0;
  std::error_code error;
  for (fs::directory_iterator file(database, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() == ".sst") ++table_files;
    std::error_code no_size;
    const std::uint64_t bytes =
        file->path().extension() == ".log" ? file->file_size(no_size) : std::uint64_t{0};
    if (!no_size) log_bytes += bytes;
  }
  if (table_files != 0) {
    return fmt::format(
        "{} has a MANIFEST that lists no tables, but there {}: it may be cut off, or RocksDB has "
        "not entered them yet",
        database,
        table_files == 1 ? "is a table file" : fmt::format("are {} table files", table_files));
  }
  return log_bytes != 0
             ? fmt::format(
                   "{} has no tables yet: its data are in its log, {}, and have no filters until "
                   "they are flushed",
                   database, FormatBytes(log_bytes))
             : fmt::format("{} has no tables, and no data in a log of its directory", database);
}

std::string Describe(const rocksdb::Status& status) {
  // RocksDB writes "Corruption: what: where", perhaps with line breaks, which are removed here.
  std::string text = status.ToString();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void ForEach(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t item = 0; (item = next.fetch_add(1)) < count;) work(item);
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void>& other : others) other.get();
}

}  // namespace exactbloom::tool
