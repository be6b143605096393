// The rows of the tables of docs/papers.md.
#pragma once

#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom {

inline constexpr BloomKind kClassic = BloomKind::kClassic;
inline constexpr BloomKind kStandard = BloomKind::kStandard;

struct Row {
  std::string claim;
  std::string functions;         // of the library
  std::string tests;             // sources, without extension, separated by blanks
  std::string printed;           // numbers of the document; empty if it prints none
  std::vector<double> computed;  // as many, if it prints any
  int digits = 5;                // of the computed values
  std::string remark = {};       // on the row; of a misprint, why the numbers differ
  bool misprint = false;
};

// Of Burns's paper, by the sections of the page.
std::vector<Row> OccupancyRows();
std::vector<Row> RateRows();
std::vector<Row> EfficiencyRows();

std::vector<Row> EncyclopediaRows();
std::vector<Row> SummaryCacheRows();
std::vector<Row> SlideRows();
std::vector<Row> IntroductionRows();

}  // namespace exactbloom
