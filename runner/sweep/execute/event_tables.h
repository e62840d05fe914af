// SPDX-License-Identifier: Apache-2.0
// Deletes the tables of events of all repetitions but the first.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::sweep {

// Whether the trace has tables of events that have not been deleted.
[[nodiscard]] bool has_event_tables(const std::string& trace_folder);

// Deletes them and keeps the tables that `mlrun report` reads. No error if there are none.
Status delete_event_tables(const std::string& trace_folder);

}  // namespace mlrun::sweep
