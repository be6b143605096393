// A database by its info logs alone, which were copied from a machine where nothing can be
// installed.
//
// The tables are those of the events (table_events.h), with the rates that filters of these bytes
// have. Tables without an event are taken to have as many keys and filter bytes per byte as those
// with one in their level. The options are those that RocksDB logs when it opens a database: the
// policy by its name, and its bits per key by the bytes of the filters, unless ExactBloom logged
// them. The ranges of keys are in no log: each sorted run is taken to have all of them.
#pragma once

#include <string>
#include <vector>

#include "info_log.h"
#include "tool/database/inspection.h"

namespace exactbloom::tool {

struct LoggedDatabase {
  Inspection inspection;  // not concluded
  InfoLog log;
  double known = 1.0;  // the share of the tables' bytes that events tell of
};

// Reads info logs of one database, in any order. Throws support::InputError if one cannot be read
// or is no info log, and if events tell of less than half of the tables' bytes.
LoggedDatabase ReadLogs(const std::vector<std::string>& paths);

}  // namespace exactbloom::tool
