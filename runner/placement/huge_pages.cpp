// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/huge_pages.h"

#include <unistd.h>

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

// Since Linux 6.8 each size has a setting, which usually is that of the system.
std::string file_of_setting(const std::string& system) {
  const std::string of_size = system + kFolder + "hugepages-2048kB/enabled", word = chosen_in(of_size);
  return word.empty() || word == "inherit" ? system + kFolder + "enabled" : of_size;
}

}  // namespace

std::string huge_page_setting(const std::string& system) { return chosen_in(file_of_setting(system)); }

Status check_huge_pages(const std::string& system) {
  const std::string path = file_of_setting(system), setting = chosen_in(path);
  if (setting == "never")
    return fail(fmt::format("no block can have huge pages, as {} is never; write madvise to it", path));
  const std::string folder = system + "/kernel/mm";
  if (setting.empty() && ::access(folder.c_str(), F_OK) == 0)  // else /sys is hidden, as in some containers
    return fail(
        fmt::format("no block can have huge pages, as this kernel has no transparent ones ({} is missing)", path));
  return {};
}

}  // namespace mlrun::placement
