// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/huge_setting.h"

#include <fmt/format.h>

#include "runner/util/file_io.h"

namespace mlrun::sweep {

Result<std::string> huge_setting(const std::string& system) {
  const std::string path = system + "/kernel/mm/transparent_hugepage/enabled", words = util::read_line(path);
  if (words.find("[always]") != std::string::npos)
    return fmt::format(
        "{} is always: all blocks of 2 MiB and more have huge pages, those of the slow memory too, so little can be "
        "gained",
        path);
  if (words.find("[madvise]") != std::string::npos) return std::string();
  const std::string no = "--fast huge=SIZE: no block can have huge pages, as ";
  if (words.empty()) return fail(fmt::format("{}this kernel has no transparent ones ({} is missing)", no, path));
  return fail(fmt::format("{}{} is never; write madvise to it", no, path));
}

}  // namespace mlrun::sweep
