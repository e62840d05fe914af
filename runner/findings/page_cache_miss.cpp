// SPDX-License-Identifier: Apache-2.0
// Data are read for the first time.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft page_cache_miss(const Context& context) {
  return {.claim = fmt::format("the training waited for data that were not in memory: {}, {} in all",
                               reads_text(context), summary::bytes_text(context.use.read_bytes)),
          .remedy =
              "read ahead (posix_fadvise, a prefetching thread), or keep the data in memory: a second pass over them "
              "is fast if they fit" +
              more_workers(context),
          .against = context.timeline().has_kernel_side
                         ? ""
                         : "concluded from the speed of the reads: --kprobes counts the misses",
          .also = context.files == Cause::kPageCacheMiss ? context.files_also : std::vector<Cause>{Cause::kDataDevice}};
}

}  // namespace mlrun::findings
