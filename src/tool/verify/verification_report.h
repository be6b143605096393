// What `exactbloom verify` says of the tables that it looked at.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "table_verification.h"
#include "tool/database/database_files.h"

namespace exactbloom::tool {

// Tables of one kind taken together. Of those that could not be read to their end only the false
// negatives count.
struct VerificationTally {
  std::uint64_t tables = 0;
  std::uint64_t keys_checked = 0;
  std::uint64_t false_negatives = 0;
  RateTally absent;
  RateTally exact;  // of `absent`, that of tables whose rates are exact

  void Add(const TableVerification& table);
};

class VerificationReport {
 public:
  using Tables = std::vector<std::pair<TableLocation, TableVerification>>;

  explicit VerificationReport(Tables tables);

  std::string Text() const;
  nlohmann::json Json() const;

  // What is wrong, in a line: false negatives, and tables that could not be read or checked. Empty
  // if nothing is.
  std::string Findings() const;

 private:
  // The tables of a column family and level that have a filter of one family.
  struct Row {
    std::string column_family;
    int level = -1;
    std::string filter;
    VerificationTally tally;
  };

  Tables tables_;
  std::vector<Row> rows_;
  VerificationTally total_;
};

}  // namespace exactbloom::tool
