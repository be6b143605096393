// std::optional in JSON: none is null.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

template <typename Value>
struct nlohmann::adl_serializer<std::optional<Value>> {
  static void to_json(json& document, const std::optional<Value>& value) {
    if (value) {
      document = *value;
    } else {
      document = nullptr;
    }
  }
};
