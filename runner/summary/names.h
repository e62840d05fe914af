// SPDX-License-Identifier: Apache-2.0
// Display names of what the summary counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/events/call_class.h"
#include "runner/summary/summary.h"

namespace mlrun::summary {

[[nodiscard]] std::string class_name(mlrun_call_class call_class);  // "read", "metadata", ...
[[nodiscard]] std::string group_name(Group group);                  // "files", "channels", "other", "waits"
[[nodiscard]] std::string direction_name(Direction direction);      // "read", "write"
[[nodiscard]] std::string site_kind_name(SiteKind kind);            // "allocations", "files"
[[nodiscard]] std::string errno_name(int32_t err);                  // "ENOENT"; "errno 4242" when it has no name
[[nodiscard]] int32_t errno_number(std::string_view name);          // of "ENOENT"; 0: no error has that name

}  // namespace mlrun::summary
