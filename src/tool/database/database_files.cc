#include "database_files.h"

#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "plugin/files/manifest.h"
#include "support/errors.h"

namespace exactbloom::tool {
namespace {

namespace fs = std::filesystem;

std::string WithoutTrailingSlash(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  return last == std::string::npos ? path : path.substr(0, last + 1);
}

TableListing ListDatabase(const std::string& directory) {
  files::Manifest manifest;
  const rocksdb::Status status =
      files::ReadManifest(*rocksdb::FileSystem::Default(), directory, &manifest);
  if (status.IsNotFound()) {
    throw support::InputError(
        fmt::format("{} is not a RocksDB database: it has no file CURRENT", directory));
  }
  if (!status.ok()) {
    throw support::InputError(
        fmt::format("the tables of {} cannot be listed: {}", directory, Describe(status)));
  }
  TableListing listing;
  listing.database = directory;
  for (const auto& [id, family] : manifest.column_families) {
    listing.families[family.name] = family.comparator;
  }
  for (const auto& [number, table] : manifest.tables) {
    listing.tables.push_back({fmt::format("{}/{:06}.sst", directory, number), number, table.level,
                              manifest.column_families[table.column_family].name});
  }
  std::sort(listing.tables.begin(), listing.tables.end(), [](const auto& a, const auto& b) {
    return std::tie(a.column_family, a.level, a.number) <
           std::tie(b.column_family, b.level, b.number);
  });
  return listing;
}

}  // namespace

TableListing ListTables(const std::vector<std::string>& paths) {
  TableListing listing;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      throw support::InputError(fmt::format("{}: {}", path, error ? error.message() : "not found"));
    }
    if (!fs::is_directory(status)) {
      listing.tables.emplace_back().path = path;
    } else if (paths.size() == 1) {
      return ListDatabase(WithoutTrailingSlash(path));
    } else {
      throw support::InputError(
          fmt::format("{} is a directory: give one database, or table files", path));
    }
  }
  return listing;
}

std::string Describe(const rocksdb::Status& status) {
  // RocksDB writes "Corruption: what: where"; its line breaks would break ours.
  std::string text = status.ToString();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace exactbloom::tool
