#include "figure.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "sweep_settings.h"

namespace exactbloom::sweep {
namespace {

namespace fs = std::filesystem;

// A directory that is removed with its files.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((fs::temp_directory_path() / "readamp_sweep-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw InputError("cannot make a temporary directory");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string File(const std::string& name) const { return (fs::path(path_) / name).string(); }

 private:
  std::string path_;
};

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool CanBeDrawn(const Plot& plot, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!plot.log_x || x > 0.0) &&
         (!plot.log_y || y > 0.0);
}

// The range of everything that was measured, with a margin.
std::string RangeOfY(const Plot& plot) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  const auto include = [&](double x, double y) {
    if (!CanBeDrawn(plot, x, y)) return;
    least = std::min(least, y);
    most = std::max(most, y);
  };
  for (const PlottedCurve& curve : plot.curves) {
    for (const Mark& mark : curve.marks) include(mark.x, mark.y);
    for (const auto& [x, y] : curve.line) include(x, y);
  }
  if (!(least <= most)) return "set yrange [*:*]\n";
  if (plot.log_y) return fmt::format("set yrange [{}:{}]\n", least / 2.0, most * 2.0);
  const double margin = std::max(0.05 * (most - least), 1e-9);
  return fmt::format("set yrange [{}:{}]\n", std::min(0.0, least - margin), most + margin);
}

std::string DataBlocks(const Plot& plot) {
  std::string text;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    text += fmt::format("$marks{} << EOD\n", i);
    for (const Mark& mark : plot.curves[i].marks) {
      if (!CanBeDrawn(plot, mark.x, mark.y)) continue;
      const double low = plot.log_y ? std::max(mark.low, mark.y * 1e-3) : mark.low;
      text += fmt::format("{} {} {} {}\n", mark.x, mark.y, low, mark.high);
    }
    text += fmt::format("EOD\n$line{} << EOD\n", i);
    for (const auto& [x, y] : plot.curves[i].line) {
      if (CanBeDrawn(plot, x, y)) text += fmt::format("{} {}\n", x, y);
    }
    text += "EOD\n";
  }
  return text;
}

std::string Script(const Plot& plot, const std::string& output) {
  std::string script = fmt::format(
      "set terminal svg size 900,560 dynamic noenhanced font 'sans-serif,15' name '{}'\n"
      "set output '{}'\n"
      "set border 3\nset tics nomirror\nset grid lc rgb '#808080' lw 0.3 dt 3\n"
      "set key below left Left reverse font ',13' maxrows 4\nset xlabel '{}'\nset ylabel '{}'\nset "
      "format y '%g'\n",
      plot.id, output, plot.x_label, plot.y_label);
  if (plot.log_x) script += "set logscale x\nset format x '%g'\n";
  if (plot.log_y) script += "set logscale y\n";
  script += RangeOfY(plot) + DataBlocks(plot);
  std::string parts;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const PlottedCurve& curve = plot.curves[i];
    const std::string colour = CurveColour(curve.colour);
    if (!parts.empty()) parts += ", ";
    parts += fmt::format("$line{} using 1:2 with lines lw 2 dt {} lc rgb '{}' title '{}'", i,
                         curve.dashed ? 2 : 1, colour, curve.label);
    if (curve.marks.empty()) continue;
    parts += fmt::format(
        ", $marks{0} using 1:2:3:4 with yerrorbars pt 0 lw 1.4 lc rgb '{1}' notitle"
        ", $marks{0} using 1:2 with points pt 7 ps 0.5 lc rgb '{1}' notitle",
        i, colour);
  }
  return script + "plot " + parts + "\n";
}

// What is to stand in a page beside other figures: names of its own, the page's colours.
std::string Adapt(std::string svg, const Plot& plot) {
  svg.erase(0, svg.find("<svg"));
  ReplaceAll(svg, "gpDot", plot.id + "-dot");
  ReplaceAll(svg, "gpPt", plot.id + "-mark");
  ReplaceAll(svg, "gnuplot_canvas", plot.id + "-canvas");
  ReplaceAll(svg, "greybox", plot.id + "-greybox");
  ReplaceAll(svg, "textbox", plot.id + "-textbox");
  ReplaceAll(svg, "rgb(  0,   0,   0)", "currentColor");
  ReplaceAll(svg, "rgb(0,0,0)", "currentColor");
  ReplaceAll(svg, "color=\"black\"", "color=\"currentColor\"");
  ReplaceAll(svg, "fill=\"black\"", "fill=\"currentColor\"");
  ReplaceAll(svg, "stroke=\"black\"", "stroke=\"currentColor\"");
  ReplaceAll(svg, "stroke='black'", "stroke='currentColor'");
  ReplaceAll(svg, "color='white'", "color='transparent'");  // a halo around marks
  const auto title = svg.find("<title>");
  const auto description = svg.find("</desc>");
  if (title != std::string::npos && description != std::string::npos) {
    svg.replace(title, description + 7 - title, "<title>" + plot.caption + "</title>");
  }
  return svg;
}

}  // namespace

std::string CurveColour(int number) {
  static const std::array<const char*, kCurveColours> kColours = {
      "#e0662a", "#c2407e", "#1f78d1", "#6b8e23", "#14a37a",
      "#8f5bd0", "#12a0b8", "#c79a00", "#7d7d7d", "#a0522d"};
  return kColours[static_cast<std::size_t>(number) % kColours.size()];
}

Figure Draw(const Plot& plot) {
  const TemporaryDirectory directory;
  const std::string script = directory.File("plot");
  const std::string output = directory.File("plot.svg");
  std::ofstream(script) << Script(plot, output);
  const std::string command = fmt::format("gnuplot '{}' 2>'{}.err'", script, script);
  // The command is made of names of a temporary directory only.
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  std::ifstream file(output);
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (status != 0 || svg.find("</svg>") == std::string::npos) {
    std::ifstream error(script + ".err");
    std::string line;
    while (std::getline(error, line) && line.find_first_not_of(" \t^") == std::string::npos) {
    }
    throw InputError(fmt::format("gnuplot could not draw {}: {}", plot.id, line));
  }
  return {plot.id, plot.caption, Adapt(svg, plot)};
}

std::string StandaloneSvg(const Figure& figure) {
  std::string svg = figure.svg;
  ReplaceAll(svg, "currentColor", "black");
  const auto end_of_root = svg.find('>');
  svg.insert(end_of_root + 1, "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n" + svg;
}

}  // namespace exactbloom::sweep
