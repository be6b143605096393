#include "open_databases.h"

#include <rocksdb/metadata.h>

#include <algorithm>
#include <cstdlib>

namespace exactbloom::tree {

OpenDatabases& OpenDatabases::All() {
  // Never destroyed: databases may be closed when the process ends.
  static OpenDatabases& all = *new OpenDatabases;
  return all;
}

template <typename Predicate>
void OpenDatabases::CloseWhere(Predicate predicate) {
  const auto closed =
      std::stable_partition(databases_.begin(), databases_.end(),
                            [&](const auto& database) { return !predicate(*database); });
  // Builders may hold them for longer.
  std::for_each(closed, databases_.end(), [](const auto& database) { database->Close(); });
  databases_.erase(closed, databases_.end());
}

std::shared_ptr<OpenDatabase> OpenDatabases::FindOrAdd(
    const rocksdb::DB& root, const std::string& session,
    const rocksdb::ColumnFamilyHandle* default_family) {
  std::shared_ptr<OpenDatabase> known = Find(root);
  if (known != nullptr && known->session == session) return known;
  // Closed without an event, which a listener that wraps ours may not forward.
  CloseWhere([&](const OpenDatabase& database) {
    return database.root == &root || database.default_family == default_family;
  });
  databases_.push_back(std::make_shared<OpenDatabase>(root, session, default_family));
  return databases_.back();
}

std::shared_ptr<OpenDatabase> OpenDatabases::Find(const std::string& path) const {
  const auto found = std::find_if(databases_.rbegin(), databases_.rend(),
                                  [&](const auto& database) { return database->path == path; });
  return found == databases_.rend() ? nullptr : *found;
}

std::shared_ptr<OpenDatabase> OpenDatabases::Find(const rocksdb::DB& root) const {
  const auto found = std::find_if(databases_.begin(), databases_.end(),
                                  [&](const auto& database) { return database->root == &root; });
  return found == databases_.end() ? nullptr : *found;
}

void OpenDatabases::Close(const rocksdb::ColumnFamilyHandle* default_family) {
  CloseWhere(
      [&](const OpenDatabase& database) { return database.default_family == default_family; });
}

void OpenDatabases::MarkAllStale() {
  for (const auto& database : databases_) database->is_stale = true;
}

std::shared_ptr<OpenDatabase> Follow(rocksdb::DB& root) {
  std::string session;
  root.GetDbSessionId(session).PermitUncheckedError();
  const rocksdb::ColumnFamilyHandle* const default_family = root.DefaultColumnFamily();
  const auto lock = OpenDatabases::All().Lock();
  return OpenDatabases::All().FindOrAdd(root, session, default_family);
}

}  // namespace exactbloom::tree
