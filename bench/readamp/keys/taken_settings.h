// What a run takes from the user's database besides its keys.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "readamp/readamp_settings.h"
#include "user_database.h"

namespace exactbloom::readamp {

// For the report, one line each.
struct TakenSettings {
  std::vector<std::string> taken;
  std::vector<std::string> not_taken;  // with the reason
};

// Sets the tree, the lengths of values, the table options that matter for reads and, as one more
// policy, the filter policy to those of the database. Options of the command line win.
//   is_given  whether the command line has an option, such as --tree
TakenSettings TakeSettings(const UserDatabase& database,
                           const std::function<bool(const char*)>& is_given,
                           ReadampSettings* settings);

}  // namespace exactbloom::readamp
