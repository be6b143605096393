// The findings of inspect, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tool/database/inspection.h"

namespace exactbloom::tool {

std::string FormatInspection(const Inspection& inspection, bool with_tables);

nlohmann::json ToJson(const Inspection& inspection);

}  // namespace exactbloom::tool
