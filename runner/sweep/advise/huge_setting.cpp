// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/huge_setting.h"

#include "runner/placement/huge_pages.h"

namespace mlrun::sweep {

Result<std::string> huge_setting(const std::string& system) {
  if (const Status can = placement::check_huge_pages(system); !can)
    return fail("--fast huge=SIZE: " + can.error().text);
  if (placement::huge_page_setting(system) == "madvise") return std::string();
  return std::string(
      "all blocks of 2 MiB and more have huge pages by the system's setting (always), those of the slow memory too, so "
      "little can be gained");
}

}  // namespace mlrun::sweep
