#include "manifest_scan.h"

#include <rocksdb/file_system.h>
#include <rocksdb/table_properties.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "../files/manifest.h"
#include "../files/table_file.h"

namespace exactbloom::tree {
namespace {

using files::Manifest;
using files::TableFile;

// Keys per byte of some tables, evenly chosen; 0 if none of them can be read.
double KeysPerByte(rocksdb::FileSystem& file_system, const std::string& database,
                   const Manifest& manifest) {
  constexpr std::size_t kSample = 16;
  const std::size_t step = manifest.tables.size() / kSample + 1;
  double keys = 0.0;
  double bytes = 0.0;
  std::size_t place = 0;
  for (const auto& [number, table] : manifest.tables) {
    if (place++ % step != 0) continue;
    char name[32];
    std::snprintf(name, sizeof name, "/%06llu.sst", static_cast<unsigned long long>(number));
    std::unique_ptr<TableFile> file;
    std::map<std::string, std::string> properties;
    if (!TableFile::Open(file_system, database + name, &file).ok()) continue;
    if (!file->ReadProperties(&properties).ok()) continue;
    keys += static_cast<double>(
        TableFile::NumberIn(properties, rocksdb::TablePropertiesNames::kNumEntries));
    bytes += static_cast<double>(file->FileBytes());
  }
  return bytes == 0.0 ? 0.0 : keys / bytes;
}

}  // namespace

std::map<std::string, std::vector<LiveTable>> ScanManifest(const std::string& database) {
  const std::shared_ptr<rocksdb::FileSystem> file_system = rocksdb::FileSystem::Default();
  Manifest manifest;
  if (!files::ReadManifest(*file_system, database, &manifest).ok()) return {};
  const double keys_per_byte = KeysPerByte(*file_system, database, manifest);
  if (keys_per_byte == 0.0 && !manifest.tables.empty()) return {};
  std::map<std::string, std::vector<LiveTable>> families;
  for (const auto& [id, family] : manifest.column_families) families[family.name];
  for (const auto& [number, table] : manifest.tables) {
    const auto family = manifest.column_families.find(table.column_family);
    if (family == manifest.column_families.end()) continue;
    const double keys = keys_per_byte * static_cast<double>(table.bytes);
    families[family->second.name].push_back(
        {table.level, number, {static_cast<std::uint64_t>(keys), std::nullopt}});
  }
  return families;
}

}  // namespace exactbloom::tree
