// SPDX-License-Identifier: Apache-2.0
// The same bytes are read again and again.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft reread(const Context& context) {
  const auto& also = context.files_also;
  const bool misses = std::find(also.begin(), also.end(), Cause::kPageCacheMiss) != also.end();
  return {
      .claim = fmt::format("{} was read {:.0f} times over: {}",
                           context.most_read_path.empty() ? "one file" : context.most_read_path, context.times_over,
                           reads_text(context)),
      .remedy = "keep it in memory or map it, and read only the part that a sample needs",
      .against =
          std::string("a file is read once in each epoch by any training") +
          (misses
               ? "; whether it came from memory is inferred from the speed of the reads; --sample=threads measures it"
               : ""),
      .also = also};
}

}  // namespace mlrun::findings
