// SPDX-License-Identifier: Apache-2.0
// Finding: the training waits for data that is not in the page cache.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

namespace {

// Page faults are not calls: how many bytes they read is unknown.
Draft of_faults(const Context& context) {
  const int32_t thread = context.top_thread(Cause::kPageCacheMiss);
  const bool by_driver = thread == context.analysis.division.driver;
  const std::string waited = by_driver
                                 ? "the training thread waited itself"
                                 : fmt::format("the training waited for {}, which waited", context.name_of(thread));
  return {.claim = fmt::format("{} for pages of mapped files that were not in memory{}", waited,
                               at_line(context, Cause::kPageCacheMiss)),
          .remedy =
              "read the pages ahead (madvise WILLNEED, a prefetching thread) and in their order, or keep the data in "
              "memory" +
              more_workers(context),
          .against = context.timeline().has_kernel_side ? ""
                                                        : "the kernel counted page faults that read; whether the "
                                                          "thread slept in them is inferred; --kprobes measures it",
          .also = {Cause::kDataDevice}};
}

}  // namespace

Draft page_cache_miss(const Context& context) {
  const auto& labels = context.labels[static_cast<size_t>(Cause::kPageCacheMiss)];
  const auto faults = labels.find(blame::Label::kPageFault);
  if (faults != labels.end() && 2 * faults->second > context.ns_of(Cause::kPageCacheMiss)) return of_faults(context);
  return {.claim = fmt::format("the training waited for data that were not in memory: {}, {} in all",
                               reads_text(context), util::bytes_text(context.use.read_bytes)),
          .remedy =
              "read ahead (posix_fadvise, a prefetching thread), or keep the data in memory: a second pass over them "
              "is fast if they fit" +
              more_workers(context),
          .against = context.timeline().has_kernel_side
                         ? ""
                         : "inferred from the speed of the reads; --kprobes counts the misses",
          .also = context.files == Cause::kPageCacheMiss ? context.files_also : std::vector<Cause>{Cause::kDataDevice}};
}

}  // namespace mlrun::findings
