// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/huge_pages.h"

#include <fmt/format.h>

#include "runner/util/file_io.h"

namespace mlrun::placement {

namespace {

constexpr const char* kFolder = "/kernel/mm/transparent_hugepage/";

// Of "always [madvise] never" the word in brackets.
std::string chosen_in(const std::string& path) {
  const std::string words = util::read_line(path);
  const size_t from = words.find('['), to = words.find(']');
  return from < to && to != std::string::npos ? words.substr(from + 1, to - from - 1) : std::string();
}

}  // namespace

std::string huge_page_setting(const std::string& system) {
  // Since Linux 6.8 each size has a setting, which usually is that of the system.
  const std::string of_size = chosen_in(system + kFolder + "hugepages-2048kB/enabled");
  return of_size.empty() || of_size == "inherit" ? chosen_in(system + kFolder + "enabled") : of_size;
}

Status check_huge_pages(const std::string& system) {
  const std::string setting = huge_page_setting(system), path = system + kFolder + "enabled";
  if (setting.empty())
    return fail(
        fmt::format("no block can have huge pages, as this kernel has no transparent ones ({} is missing)", path));
  if (setting == "never")
    return fail(fmt::format("no block can have huge pages, as {} is never; write madvise to it", path));
  return {};
}

}  // namespace mlrun::placement
