// SPDX-License-Identifier: Apache-2.0
// Many small files.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft small_files(const Context& context) {
  const blame::FileUse& use = context.use;
  return {.claim = fmt::format("small files were opened {} times, to read {} on average", util::count_text(use.opens),
                               util::bytes_text(use.opens == 0 ? 0 : use.read_bytes / use.opens)),
          .remedy = "pack the samples into a few large files (tar shards, HDF5, Parquet, LMDB)",
          .against = "opening, reading and parsing are one finding: packing saves most of the first two",
          .also = context.files_also};
}

}  // namespace mlrun::findings
