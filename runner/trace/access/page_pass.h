// SPDX-License-Identifier: Apache-2.0
// Writes the table page_site from the spool's samples of pages and the table of allocations.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"
#include "runner/trace/access/page_join.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

class PagePass {
 public:
  // The table has a file even without rows. Requires: `alloc` is written; processes and threads are known. `folder`: of the trace.
  Status run(const SpoolIndex& index, const model::Run& session, const model::TraceInfo& info,
             const std::string& folder);

  // Adds to `placement` of run.json the sites with the most bytes on nodes that their rule, or the policy, does not name. Requires: stacks are
  // symbolized.
  void describe(const model::TraceInfo& info, nlohmann::json& run) const;

 private:
  Status join(const SpoolIndex& index, const model::Run& session, const model::TraceInfo& info,
              const std::string& folder);

  std::map<PageSite, model::PagesFound> sites_;
};

// The pages of one site on one node.
struct PageSiteRow {
  PageSite where;
  int32_t node = 0;
  int64_t samples = 0, sampled = 0, bytes = 0;
};

struct PageSiteColumns;
using PageSiteTable = tables::RowTable<PageSiteColumns, PageSiteRow>;

}  // namespace mlrun::trace

extern template class mlrun::tables::RowTable<mlrun::trace::PageSiteColumns, mlrun::trace::PageSiteRow>;
