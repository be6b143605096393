// What a function returns that may refuse its parameters.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace exactbloom {

// A value, or the reason why there is none: a text that names the parameter, its value and its
// range.
//
//   Result<FilterBuilder> builder = FilterBuilder::Create(options);
//   if (!builder) return Fail(builder.Error());
//   builder->AddKey("apple");
template <typename Value>
class Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): functions return their value
  Result(Value value) : value_(std::move(value)) {}

  static Result Refuse(std::string reason) {
    Result refused;
    refused.reason_ = std::move(reason);
    return refused;
  }

  explicit operator bool() const { return value_.has_value(); }

  // There must be a value.
  Value& operator*() & { return *value_; }
  const Value& operator*() const& { return *value_; }
  Value&& operator*() && { return *std::move(value_); }
  Value* operator->() { return &*value_; }
  const Value* operator->() const { return &*value_; }

  // Returns the reason; empty if there is a value.
  const std::string& Error() const { return reason_; }

 private:
  Result() = default;

  std::optional<Value> value_;
  std::string reason_;
};

}  // namespace exactbloom
