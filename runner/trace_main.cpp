// SPDX-License-Identifier: Apache-2.0
// mlrun-trace: everything that writes or reads traces. Called by mlrun, not by users.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "runner/exchange/import/import.h"
#include "runner/util/memory_shortage.h"
#include "runner/util/program.h"
#include "runner/view/merge_verbs.h"
#include "runner/view/verbs.h"

namespace {

using Arguments = std::vector<std::string>;

struct Verb {
  const char* name;
  mlrun::Result<int> (*run)(const Arguments& arguments);
};

constexpr std::array<Verb, 6> kVerbs = {{
    {"merge", mlrun::trace::run_merge},
    {"finish", mlrun::trace::run_finish},
    {"report", mlrun::view::report},
    {"show", mlrun::view::show},
    {"list", mlrun::view::list},
    {"import", mlrun::exchange::import},
}};

// Every slice allocates and frees buffers of some mebibytes: keeping them avoids clearing their pages each time.
void keep_freed_memory() {
  constexpr int kLargestKept = 32 << 20, kKept = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLargestKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

mlrun::Result<int> dispatch(Arguments arguments) {
  const auto* verb = arguments.empty() ? kVerbs.end() : std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& v) {
    return arguments.front() == v.name;
  });
  if (verb == kVerbs.end())
    return mlrun::fail("mlrun-trace is called by mlrun; its verbs are merge, finish, report, show, list, import");
  arguments.erase(arguments.begin());
  return verb->run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return mlrun::util::run_program([&] {
    mlrun::util::end_when_memory_is_short(argc > 1 && std::string_view(argv[1]) == "finish");
    auto status = dispatch(Arguments(argv + 1, argv + argc));
    if (!status && mlrun::util::is_memory_shortage(status.error().text)) mlrun::util::end_for_want_of_memory();
    return status;
  });
}
