// SPDX-License-Identifier: Apache-2.0
// Data of the kernel side as blocks of the summary's JSON (SUMMARY_JSON.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runner/summary/summary.h"

namespace mlrun::report {

[[nodiscard]] nlohmann::ordered_json kernel_side_json(const summary::Summary& summary);
[[nodiscard]] nlohmann::ordered_json devices_json(const summary::Summary& summary);
[[nodiscard]] nlohmann::ordered_json syscalls_json(const summary::Summary& summary);

}  // namespace mlrun::report
