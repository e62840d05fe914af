// SPDX-License-Identifier: Apache-2.0
// The library exports what the hook table names, and nothing else.
#include <dlfcn.h>

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
  while (lines >> address >> type >> name) names.insert(name);
  return names;
}

TEST(Exports, AreTheHookTable) { EXPECT_EQ(exported(), kTable); }

// A misspelt symbol would be a hook that nobody reaches.
TEST(Exports, AllExistInLibc) {
  for (const std::string& name : kTable) EXPECT_NE(dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
}

}  // namespace
}  // namespace mlrun::preload_test
