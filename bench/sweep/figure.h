// Curves as SVG, drawn by gnuplot.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document.h"

namespace exactbloom::sweep {

// Colours that are told apart on white and on black, as #rrggbb; they repeat.
std::string CurveColour(int number);
inline constexpr int kCurveColours = 10;

struct Mark {
  double x = 0.0;
  double y = 0.0;
  double low = 0.0;  // of its interval
  double high = 0.0;
};

struct PlottedCurve {
  std::string label;
  int colour = 0;
  std::vector<Mark> marks;                      // what was measured
  std::vector<std::pair<double, double>> line;  // what joins them
  bool dashed = false;                          // the line is no theory but joins the marks
};

struct Plot {
  std::string id;
  std::string caption;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<PlottedCurve> curves;
};

// Draws it. On a logarithmic axis what is not positive is left out. Throws InputError when gnuplot
// is missing or fails.
Figure Draw(const Plot& plot);

// The figure as a file of its own: with a white ground and black text.
std::string StandaloneSvg(const Figure& figure);

}  // namespace exactbloom::sweep
