// SPDX-License-Identifier: Apache-2.0
// mlrun-sweep: makes sweeps and reads them. Called by mlrun, not by users.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "runner/sweep/verbs.h"
#include "runner/util/program.h"

namespace {

using mlrun::sweep::Arguments;

struct Verb {
  const char* name;
  mlrun::Result<int> (*run)(const Arguments& arguments);
};

// Verbs of `mlrun sweep`; any other word belongs to a plan.
constexpr std::array<Verb, 4> kVerbs = {{
    {"list", mlrun::sweep::list},
    {"stat", mlrun::sweep::stat},
    {"compare", mlrun::sweep::compare},
    {"history", mlrun::sweep::history},
}};

mlrun::Result<int> dispatch(Arguments arguments) {
  if (arguments.empty()) return mlrun::fail("mlrun-sweep is called by mlrun; its verbs are sweep, compare and advise");
  const std::string first = arguments.front();
  arguments.erase(arguments.begin());
  if (first == "slurm-task") return mlrun::sweep::slurm_task(arguments);
  if (first == "compare") return mlrun::sweep::compare(arguments);
  if (first == "advise") return mlrun::sweep::advise(arguments);
  const auto* verb = std::find_if(kVerbs.begin(), kVerbs.end(),
                                  [&](const Verb& v) { return !arguments.empty() && arguments.front() == v.name; });
  if (verb == kVerbs.end()) return mlrun::sweep::run_plan(arguments);
  arguments.erase(arguments.begin());
  return verb->run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return mlrun::util::run_program([&] { return dispatch(Arguments(argv + 1, argv + argc)); });
}
