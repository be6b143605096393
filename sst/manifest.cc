#include "manifest.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

void Drop(std::uint32_t family, Manifest* manifest) {
  manifest->column_families.erase(family);
  for (auto table = manifest->tables.begin(); table != manifest->tables.end();) {
    table = table->second.column_family == family ? manifest->tables.erase(table) : ++table;
  }
}

void Apply(const VersionEdit& edit, Manifest* manifest) {
  if (edit.drops_family) return Drop(edit.column_family, manifest);
  if (edit.adds_family) manifest->column_families[edit.column_family].name = edit.family_name;
  const auto known = manifest->column_families.find(edit.column_family);
  if (known == manifest->column_families.end()) return;  // dropped before
  LiveColumnFamily& family = known->second;
  if (!edit.comparator.empty()) family.comparator = edit.comparator;
  for (const auto& [level, number] : edit.deleted) {
    const auto table = manifest->tables.find(number);
    if (table != manifest->tables.end() && table->second.level == level) {
      manifest->tables.erase(table);
    }
  }
  for (const auto& [number, table] : edit.added) {
    manifest->tables[number] = table;
    manifest->tables[number].column_family = edit.column_family;
  }
}

Status ReadEdits(rocksdb::FileSystem& file_system, const std::string& path, std::size_t most_bytes,
                 Manifest* manifest) {
  *manifest = Manifest();
  manifest->column_families[0].name = "default";
  std::vector<VersionEdit> group;
  std::size_t group_bytes = 0;
  bool is_empty = true;
  const Status status = VisitRecords(
      file_system, path,
      [&](const Slice& record) {
        is_empty = false;
        VersionEdit edit;
        group_bytes += sizeof edit + record.size();
        if (group_bytes > most_bytes) return Status::Corruption("a group of edits is too large");
        Status decoded = DecodeVersionEdit(record, &edit);
        if (!decoded.ok()) return decoded;
        group.push_back(edit);
        if (edit.group_edits_left != 0) return Status::OK();
        for (const VersionEdit& whole : group) Apply(whole, manifest);
        group.clear();
        group_bytes = 0;
        return Status::OK();
      },
      most_bytes);
  return status.ok() && is_empty ? Status::Corruption(path, "it has no edits") : status;
}

}  // namespace

Status ReadManifest(rocksdb::FileSystem& file_system, const std::string& database,
                    Manifest* manifest, std::size_t most_bytes) {
  // The database may replace the MANIFEST between the reads of CURRENT and of the MANIFEST.
  constexpr int kAttempts = 5;
  Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name;
    const std::string current = database + "/CURRENT";
    status = rocksdb::ReadFileToString(&file_system, current, &name);
    if (!status.ok()) {
      return status.IsPathNotFound() || status.IsNotFound() ? Status::NotFound(current) : status;
    }
    if (!Slice(name).starts_with("MANIFEST-") || name.back() != '\n') {
      return Status::Corruption(current, "it does not name a MANIFEST");
    }
    name.pop_back();
    name.insert(0, database + "/");
    status = ReadEdits(file_system, name, most_bytes, manifest);
    if (!status.IsPathNotFound()) return status;
  }
  return status;
}

}  // namespace exactbloom::files
