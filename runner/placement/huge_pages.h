// SPDX-License-Identifier: Apache-2.0
// The system's setting of transparent huge pages.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::placement {

// "always": all memory has them where it can; "madvise": where they are requested; "never"; empty: this kernel has none. `system`: /sys, but for tests.
std::string huge_page_setting(const std::string& system = "/sys");

// Fails if a request for huge pages is without effect, as far as that is known.
Status check_huge_pages(const std::string& system = "/sys");

}  // namespace mlrun::placement
