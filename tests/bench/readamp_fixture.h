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
  ReadampTest() { std::filesystem::create_directory(Databases()); }

  std::string Databases() const { return directory_.path("databases"); }
  std::string Json() const { return directory_.path("result.json"); }

  // Runs readamp `under` another command, or with its environment, and expects no database left.
  Outcome Run(const std::string& arguments, const std::string& under = "") const {
    Outcome outcome =
        RunCommand(fmt::format("{} {} --directory {} {}", under, READAMP, Databases(), arguments));
    EXPECT_TRUE(std::filesystem::is_empty(Databases()));
    return outcome;
  }

  // The results of a run that has to succeed, and its text in out_ and err_.
  nlohmann::json Measure(const std::string& arguments, const std::string& under = "") {
    const Outcome outcome = Run(arguments + " --json " + Json(), under);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    out_ = outcome.out;
    err_ = outcome.err;
    return outcome.status == 0 ? nlohmann::json::parse(ReadFile(Json())) : nlohmann::json();
  }

  static const nlohmann::json& Result(const nlohmann::json& report, std::size_t policy,
                                      const char* workload) {
    return report.at("policies").at(policy).at("workloads").at(workload);
  }

  static void ExpectExactRateInInterval(const nlohmann::json& result) {
    EXPECT_LE(result.at("interval").at(0), result.at("exact_rate"));
    EXPECT_GE(result.at("interval").at(1), result.at("exact_rate"));
  }

  TemporaryDirectory directory_;
  std::string out_;
  std::string err_;
};

}  // namespace exactbloom::testing
