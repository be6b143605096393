#include "manifest_scan.h"

#include <rocksdb/file_system.h>
#include <rocksdb/table_properties.h>

#include <cstdio>
#include <memory>

#include "../files/manifest.h"
#include "../files/table_file.h"

namespace exactbloom::tree {
namespace {

using files::Manifest;
using files::TableFile;

// Of a table, per byte of its file.
struct Density {
  double keys = 0.0;
  double filter_bytes = 0.0;
};

// The mean of some tables, evenly chosen; zero if none of them can be read.
Density DensityOf(rocksdb::FileSystem& file_system, const std::string& database,
                  const Manifest& manifest) {
  constexpr std::size_t kSample = 16;
  using Names = rocksdb::TablePropertiesNames;
  const std::size_t step = manifest.tables.size() / kSample + 1;
  double keys = 0.0;
  double filter_bytes = 0.0;
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
    keys += static_cast<double>(TableFile::NumberIn(properties, Names::kNumEntries));
    filter_bytes += static_cast<double>(TableFile::NumberIn(properties, Names::kFilterSize));
    bytes += static_cast<double>(file->FileBytes());
  }
  return bytes == 0.0 ? Density() : Density{keys / bytes, filter_bytes / bytes};
}

}  // namespace

std::map<std::string, std::vector<LiveTable>> ScanManifest(const std::string& database) {
  const std::shared_ptr<rocksdb::FileSystem> file_system = rocksdb::FileSystem::Default();
  Manifest manifest;
  if (!files::ReadManifest(*file_system, database, &manifest).ok()) return {};
  const Density density = DensityOf(*file_system, database, manifest);
  if (density.keys == 0.0 && !manifest.tables.empty()) return {};
  std::map<std::string, std::vector<LiveTable>> families;
  for (const auto& [id, family] : manifest.column_families) families[family.name];
  for (const auto& [number, table] : manifest.tables) {
    const auto family = manifest.column_families.find(table.column_family);
    if (family == manifest.column_families.end()) continue;
    const auto part_of = [bytes = static_cast<double>(table.bytes)](double per_byte) {
      return static_cast<std::uint64_t>(per_byte * bytes);
    };
    families[family->second.name].push_back(
        {table.level, number, {part_of(density.keys), part_of(density.filter_bytes)}});
  }
  return families;
}

}  // namespace exactbloom::tree
