// readamp in a directory of its own, run as a user runs it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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

  // Runs readamp `under` another command, or with its environment, and expects no database left.
  Outcome Run(const std::string& arguments, const std::string& under = "") const {
    Outcome outcome = RunCommand(
        fmt::format("{} {} --directory {} {}", under, READAMP, Databases().string(), arguments),
        directory_);
    EXPECT_TRUE(std::filesystem::is_empty(Databases()));
    return outcome;
  }

  // The results of a run that has to succeed, and its text in out_ and err_.
  nlohmann::json Measure(const std::string& arguments, const std::string& under = "") {
    const Outcome outcome = Run(arguments + " --json " + Json().string(), under);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    out_ = outcome.out;
    err_ = outcome.err;
    return outcome.status == 0 ? nlohmann::json::parse(ReadFile(Json())) : nlohmann::json();
  }

  // Writes a dictionary of so many words and returns the argument that names it.
  std::string MakeDictionary(int words) const {
    std::filesystem::create_directory(directory_ / "dict");
    const std::filesystem::path path = directory_ / "dict" / "words";
    std::ofstream file(path);
    for (int i = 0; i < words; ++i) file << "word" << i << "\n";
    return "--keys " + path.string();
  }

  // One line on stderr that contains `words`, status 2 and nothing on stdout.
  void ExpectRefusal(const std::string& arguments, const std::string& words) const {
    SCOPED_TRACE(arguments);
    testing::ExpectRefusal(Run(arguments), words);
  }

  static const nlohmann::json& Result(const nlohmann::json& report, std::size_t policy,
                                      const char* workload) {
    return report.at("policies").at(policy).at("workloads").at(workload);
  }

  static void ExpectExactRateInInterval(const nlohmann::json& result) {
    EXPECT_LE(result.at("interval").at(0), result.at("exact_rate"));
    EXPECT_GE(result.at("interval").at(1), result.at("exact_rate"));
  }

  std::filesystem::path directory_;
  std::string out_;
  std::string err_;
};

}  // namespace exactbloom::testing
