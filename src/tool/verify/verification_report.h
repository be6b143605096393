// The report of `exactbloom verify`.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "table_verification.h"
#include "tool/database/database_files.h"

namespace exactbloom::tool {

// Sums over tables of one kind. Tables that could not be read to their end contribute only false
// negatives.
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

  // The problems, in one line: false negatives, and tables that could not be read or checked. Empty
  // if there are none.
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
