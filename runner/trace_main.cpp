// SPDX-License-Identifier: Apache-2.0
// mlrun-trace: makes the trace of a run and reads traces. Called by mlrun, not by users.
#include <array>

#include "runner/util/trace_program.h"
#include "runner/view/merge_verbs.h"
#include "runner/view/verbs.h"

namespace {

constexpr auto kVerbs = std::to_array<mlrun::util::Verb>({
    {"merge", mlrun::view::run_merge},
    {"finish", mlrun::view::run_finish, true},
    {"report", mlrun::view::report},
    {"show", mlrun::view::show},
    {"list", mlrun::view::list},
});

}  // namespace

int main(int argc, char** argv) { return mlrun::util::run_trace_program("mlrun-trace", kVerbs, argc, argv); }
