// SPDX-License-Identifier: Apache-2.0
#include "runner/util/trace_program.h"

#include <malloc.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "runner/util/memory_shortage.h"
#include "runner/util/program.h"

namespace mlrun::util {

namespace {

// Each slice of the merge allocates and frees buffers of some MiB. If malloc keeps them, the kernel need not clear their pages again.
void keep_freed_memory() {
  constexpr int kLargestKept = 32 << 20, kKept = 256 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLargestKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

std::string names_of(std::span<const Verb> verbs) {
  std::string names;
  for (const Verb& verb : verbs) names += fmt::format("{}{}", names.empty() ? "" : ", ", verb.name);
  return names;
}

}  // namespace

int run_trace_program(const char* name, std::span<const Verb> verbs, int argc, char** argv) {
  keep_freed_memory();
  return run_program([&]() -> Result<int> {
    const std::string_view word = argc > 1 ? argv[1] : "";
    const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& each) { return word == each.name; });
    end_when_memory_is_short(verb != verbs.end() && verb->parent_says_shortage);
    if (verb == verbs.end())
      return fail(fmt::format("{} is started by mlrun and not by hand; its verbs are {}", name, names_of(verbs)));
    auto status = verb->run(std::vector<std::string>(argv + 2, argv + argc));
    if (!status && is_memory_shortage(status.error().text)) end_for_want_of_memory();
    return status;
  });
}

}  // namespace mlrun::util
