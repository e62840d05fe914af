// SPDX-License-Identifier: Apache-2.0
#include "runner/findings/answer.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "runner/findings/findings.h"
#include "runner/report/run_facts.h"

namespace mlrun::findings {

Status answer(const std::string& folder, const nlohmann::json& run, const AnswerOptions& options,
              summary::Answer& out) {
  const summary::RunFacts facts = summary::run_facts(run);
  blame::Options of{folder, 0, 0, options.driver_tid};
  if (facts.start_monotonic_ns && facts.wall_ns) {
    of.start_ns = *facts.start_monotonic_ns;
    of.end_ns = of.start_ns + *facts.wall_ns;
  }
  auto analysis = blame::analyse(of);
  if (!analysis) return tl::make_unexpected(analysis.error());
  if ((*analysis)->division.driver == 0) return {};
  const Context context = find(**analysis, folder, {});
  if (options.writes_tables) {
    if (Status written = write_blame(context, folder); !written) return written;
  }
  out = std::move((*analysis)->answer);
  return {};
}

}  // namespace mlrun::findings
