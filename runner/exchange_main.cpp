// SPDX-License-Identifier: Apache-2.0
// mlrun-exchange: traces to and from other tools, and those of several nodes as one. Called by mlrun, not by users. A program of its own, so
// that mlrun-trace starts and is built without the libraries of other formats.
#include <array>

#include "runner/exchange/front/convert_verb.h"
#include "runner/exchange/front/export_verb.h"
#include "runner/exchange/front/import.h"
#include "runner/nodes/merge_nodes.h"
#include "runner/util/trace_program.h"

namespace {

constexpr auto kVerbs = std::to_array<mlrun::util::Verb>({
    {"merge", mlrun::nodes::merge_nodes},
    {"export", mlrun::exchange::export_verb},
    {"import", mlrun::exchange::import},
    {"convert", mlrun::exchange::convert_verb},
});

}  // namespace

int main(int argc, char** argv) { return mlrun::util::run_trace_program("mlrun-exchange", kVerbs, argc, argv); }
