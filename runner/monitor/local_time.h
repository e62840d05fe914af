// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mlrun::monitor {

// "2026-11-23 11:49:58", in the local time zone.
std::string local_time();

}  // namespace mlrun::monitor
