// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mlrun::monitor {

// "2026-11-23 11:49:58", by the time zone of whoever looks.
std::string local_time();

}  // namespace mlrun::monitor
