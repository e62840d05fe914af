// SPDX-License-Identifier: Apache-2.0
// Tests that the library exports the hook table and its API for programs, and nothing else.
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {
namespace {

const std::set<std::string> kTable = {
#define FUNCTION(number, name, ...)    #name,
#define VARIANT(name, symbol, ...)     #symbol,
#define HANDMADE(number, name, ...)    #name,
#define HANDMADE_VARIANT(name, symbol) #symbol,
#define ALLOCATION(symbol)             #symbol,
#define WATCHED(symbol)                #symbol,
#include "runner/events/hooks.def"
};

std::set<std::string> exported() {
  RunOptions untraced;
  untraced.library = "none";
  std::istringstream lines(run_traced({"nm", "-D", "--defined-only", preload_library()}, untraced).output);
  std::set<std::string> names;
  std::string address, type, name;
  // Type A: the names of versions (exports.map) themselves.
  while (lines >> address >> type >> name) {
    if (type != "A") names.insert(name.substr(0, name.find('@')));
  }
  return names;
}

// mlrun_mark.h, how NVTX finds its handler, and what the library for CUPTI records through.
const std::set<std::string> kForPrograms = {"InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                                            "mlrun_mark_instant",       "mlrun_mark_pop",
                                            "mlrun_mark_push",          "mlrun_producer"};

TEST(Exports, AreTheHookTableAndWhatProgramsCall) {
  std::set<std::string> all = kTable;
  all.insert(kForPrograms.begin(), kForPrograms.end());
  EXPECT_EQ(exported(), all);
}

}  // namespace
}  // namespace mlrun::preload_test
