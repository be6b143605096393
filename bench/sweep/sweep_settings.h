// What a sweep measures, as the command line gives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readamp/readamp_settings.h"
#include "support/errors.h"

namespace exactbloom::sweep {

using support::InputError;
using support::WrongAnswer;

struct SweepSettings {
  // Of the keys, the tree and the lookups; its own list of policies is not used.
  readamp::Settings readamp;

  // Policies with placeholders, see plan.h.
  std::vector<std::string> policies = {
      "bloomfilter:{bits}",
      "ribbonfilter:{equal_bytes}",
      "classic_bloom:{bits}",
      "{id=classic_bloom;bits_per_key={bits};lines=2}",
      "{id=classic_bloom;bits_per_key={bits};lines=1}",
      "{id=classic_bloom;bits_per_key={bits};size_ratio={size_ratio}}",
      "{id=classic_bloom;bits_per_key={bits};size_ratio={size_ratio};lines=1}",
      "{id=classic_bloom;bits_per_key={bits};size_ratio={size_ratio};bottommost=ribbon}"};
  std::vector<std::string> trees = {"large"};  // names of kTrees, plan.h

  double least_bits = 4.0;  // per key
  double most_bits = 24.0;
  double step = 2.0;

  int repetitions = 2;  // of the lookups; the least processor time counts
  // Reads are delayed by these, microseconds, in a run beside the others.
  std::vector<double> read_latencies_us = {100.0, 1000.0};

  // Of filters alone, for each point of what exact sizing is worth; 0 leaves that out.
  std::uint64_t sizing_queries = 4'000'000;
  std::string results = "sweep.jsonl";
};

}  // namespace exactbloom::sweep
