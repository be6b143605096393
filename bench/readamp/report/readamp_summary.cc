#include "readamp_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/text_table.h"

namespace exactbloom::readamp {
namespace {

constexpr double kLookups = 1000.0;

std::string KibibytesOf(const PolicySummary& policy) {
  return fmt::format("{:.1f}", static_cast<double>(policy.filter_bytes) / 1024.0);
}

std::string MemoryAgainst(const PolicySummary& one, const PolicySummary& other) {
  constexpr double kEqual = 0.005;
  const double ratio =
      static_cast<double>(one.filter_bytes) / static_cast<double>(other.filter_bytes) - 1.0;
  if (std::abs(ratio) < kEqual) return "in the same memory";
  return fmt::format("in {:.2g}% {} memory", 100.0 * std::abs(ratio),
                     ratio < 0.0 ? "less" : "more");
}

bool IsFewer(const PolicySummary& best, const PolicySummary& other) {
  return best.rate.high < other.rate.low;
}

std::string Compared(const PolicySummary& best, const PolicySummary& other) {
  const std::string fewer =
      best.wasted_reads > 0.0
          ? fmt::format("{:.2g} times fewer", other.wasted_reads / best.wasted_reads)
          : "none, and so fewer";
  return fmt::format("{} than {} {}", fewer, other.policy, MemoryAgainst(best, other));
}

std::string Bar(double part) {
  constexpr double kWidth = 40.0;
  std::string bar;
  for (long i = std::lround(kWidth * part); i > 0; --i) bar += "█";
  return bar.empty() ? "▏" : bar;
}

double Most(const Summary& summary) {
  double most = 0.0;
  for (const PolicySummary& policy : summary.policies) most = std::max(most, policy.wasted_reads);
  return most > 0.0 ? most : 1.0;
}

std::string TitleOf(const Summary& summary) {
  return fmt::format("wasted reads in {:.0f} lookups ({})", kLookups, summary.workload);
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --text: #1a1a1a; --page: #fff; --other: #8a93a0; --own: #0b6fb8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8e8; --page: #16181b; --other: #7d8794; --own: #58b0ee; }
}
body { font: 16px/1.5 sans-serif; color: var(--text); background: var(--page); max-width: 50em;
       margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.3em; }
dt { font-family: monospace; overflow-wrap: anywhere; margin-top: .8em; }
dd { margin: 0; }
dd span { display: inline-block; height: 1em; vertical-align: middle; background: var(--other);
          print-color-adjust: exact; }
dd.own span { background: var(--own); }
footer { font-size: .85em; margin-top: 2em; overflow-wrap: anywhere; }
)";

bool IsOwn(const std::string& policy) {
  return policy.find("classic_bloom") != std::string::npos ||
         policy.find("standard_bloom") != std::string::npos;
}

}  // namespace

std::string Summary::Conclusion() const {
  std::string text;
  if (unfiltered) {
    text = fmt::format("Without filters a lookup reads {:.2f} blocks in vain.\n", *unfiltered);
  }
  if (policies.size() < 2) return text;
  std::vector<const PolicySummary*> order;
  for (const PolicySummary& policy : policies) order.push_back(&policy);
  std::stable_sort(order.begin(), order.end(), [](const auto* one, const auto* other) {
    return one->wasted_reads < other->wasted_reads;
  });
  const PolicySummary& first = policies.front();
  const PolicySummary& best = *order[0];
  const PolicySummary& next = *order[1];
  std::vector<std::string> claims;
  if (IsFewer(best, first)) claims.push_back(Compared(best, first));
  if (&next != &first && IsFewer(best, next)) claims.push_back(Compared(best, next));
  if (claims.empty()) {
    return text + fmt::format("{} and {} differ by no more than chance.\n", best.policy,
                              (&best == &first ? next : first).policy);
  }
  text += IsFewer(best, next)
              ? fmt::format("{} wastes the fewest:\n", best.policy)
              : fmt::format("{} and {}, which differ by no more than chance, waste the fewest:\n",
                            best.policy, next.policy);
  return text + fmt::format("{}.\n", fmt::join(claims, ",\n"));
}

std::string Summary::Text() const {
  support::TextTable table({TitleOf(*this), "KiB of filters", "wasted"});
  for (const PolicySummary& policy : policies) {
    table.AddRow({policy.policy, KibibytesOf(policy),
                  fmt::format("{:.2f}", kLookups * policy.wasted_reads)});
  }
  const std::string text = table.Format();
  const double most = Most(*this);
  std::string with_bars;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    with_bars += text.substr(begin, end - begin);
    constexpr std::size_t kHeaderLines = 2;
    if (line >= kHeaderLines && line - kHeaderLines < policies.size()) {
      with_bars += "  " + Bar(policies[line - kHeaderLines].wasted_reads / most);
    }
    with_bars += '\n';
    begin = end + 1;
  }
  return with_bars + "\n" + Conclusion();
}

std::optional<Summary> SummaryOf(const Report& report) {
  const std::vector<WorkloadResult>& workloads = report.policies.front().workloads;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    Summary summary;
    summary.workload = workloads[i].description;
    for (const PolicyResult& policy : report.policies) {
      const WorkloadResult& result = policy.workloads[i];
      if (!result.measurement.wasted_reads || result.measurement.lookups == 0) break;
      const double wasted = static_cast<double>(*result.measurement.wasted_reads) /
                            static_cast<double>(result.measurement.lookups);
      if (policy.filter_bytes == 0) {
        if (policy.policy == "none") summary.unfiltered = wasted;
        continue;
      }
      summary.policies.push_back(
          {policy.policy, policy.filter_bytes, wasted, result.RateInterval()});
    }
    if (!summary.policies.empty()) return summary;
  }
  return std::nullopt;
}

std::string SummaryPage(const Summary& summary, const Report& report,
                        const ReadampSettings& settings) {
  std::string bars;
  const double most = Most(summary);
  for (const PolicySummary& policy : summary.policies) {
    bars += fmt::format(
        "<dt>{}</dt>\n<dd{}><span style=\"width: {:.1f}%\"></span> {:.2f} in {} KiB of "
        "filters</dd>\n",
        Escaped(policy.policy), IsOwn(policy.policy) ? " class=\"own\"" : "",
        std::max(0.2, 60.0 * policy.wasted_reads / most), kLookups * policy.wasted_reads,
        KibibytesOf(policy));
  }
  const std::string title = TitleOf(summary);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style>{}</style>\n<h1>{}</h1>\n<p>{}</p>\n<dl>\n{}</dl>\n"
      "<footer>{}<br>\n<code>{}</code><br>\nRocksDB {}, {}</footer>\n</html>\n",
      title, kStyle, title, Escaped(summary.Conclusion()), bars, Escaped(report.DataText(settings)),
      Escaped(report.command), report.rocksdb, Escaped(report.cpu));
}

}  // namespace exactbloom::readamp
