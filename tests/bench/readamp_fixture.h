// readamp in a directory of its own, run as a user runs it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace exactbloom::testing {

class ReadampTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = MakeTemporaryDirectory();
    std::filesystem::create_directory(Databases());
  }

  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path Databases() const { return directory_ / "databases"; }
  std::filesystem::path Json() const { return directory_ / "result.json"; }

  Outcome Run(const std::string& arguments) const { return RunIn(Databases(), arguments); }

  Outcome RunIn(const std::filesystem::path& databases, const std::string& arguments,
                const std::string& under = "") const {
    return RunCommand(
        fmt::format("{} {} --directory {} {}", under, READAMP, databases.string(), arguments),
        directory_);
  }

  // The results of a run that has to succeed and to leave no database.
  nlohmann::json Measure(const std::string& arguments, const std::string& under = "") const {
    const Outcome outcome =
        RunIn(Databases(), fmt::format("{} --no-bloom-table --json {}", arguments, Json().string()),
              under);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(std::filesystem::is_empty(Databases()));
    return outcome.status == 0 ? nlohmann::json::parse(ReadFile(Json())) : nlohmann::json();
  }

  // One line on stderr that contains `words`, status 2, nothing on stdout and no database left.
  void ExpectRefusal(const std::string& arguments, const std::string& words) const {
    SCOPED_TRACE(arguments);
    testing::ExpectRefusal(Run(arguments), words);
    EXPECT_TRUE(std::filesystem::is_empty(Databases()));
  }

  std::filesystem::path directory_;
};

}  // namespace exactbloom::testing
