// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/process_memory.h"

#include <string_view>

#include "runner/collect/arena_place.h"
#include "runner/model/run.h"
#include "runner/util/number.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::placement {

namespace {

// These names in /proc/PID/maps are memory without a file: explicit huge pages (MAP_HUGETLB), and private mappings of /dev/zero.
bool is_without_file(const util::MapsLine& map) {
  return map.inode == 0 || map.path.starts_with("/anon_hugepage") || map.path == "/dev/zero";
}

bool is_of_mlrun(std::string_view path, const std::string& arena) {
  return path == arena ||
         (path.starts_with(collect::kSharedMemoryFolder) && collect::is_arena_name(util::base_name(path)));
}

// Names of shared memory come and go with each batch of a loader, so that all of it is one file.
std::string file_of(const util::MapsLine& map, const std::string& arena) {
  const bool is_private = map.rights[3] == 'p';
  if (map.inode == 0 || !map.has_file() || (is_private && is_without_file(map)) || is_of_mlrun(map.path, arena))
    return {};
  for (const char* const shared : {"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero", "/anon_hugepage"}) {
    if (map.path.starts_with(shared)) return model::Placement::kSharedMemory;
  }
  return std::string(map.path);
}

}  // namespace

std::vector<Mapping> read_mappings(const std::string& maps, const std::string& arena) {
  std::vector<Mapping> mappings;
  for (const std::string_view line : util::split(maps, "\n")) {
    const auto map = util::maps_line(line);
    if (!map || map->rights.size() < 4) continue;
    mappings.push_back({{map->start, map->end},
                        map->rights[3] == 'p' && is_without_file(*map) && !map->path.starts_with("[v"),
                        !map->rights.starts_with("---"),
                        map->path == "[vdso]",
                        file_of(*map, arena)});
  }
  return mappings;
}

uint64_t read_resident_bytes(const std::string& statm, const std::string& status) {
  constexpr uint64_t kPageOfStatm = 4096, kKiB = 1024;
  const auto words = util::split(statm, " ");
  const uint64_t pages = words.size() > 1 ? util::leading_number<uint64_t>(words[1]) : 0;
  const auto huge = util::status_words(status, "HugetlbPages:");
  return pages * kPageOfStatm + (huge.empty() ? 0 : util::leading_number<uint64_t>(huge.front()) * kKiB);
}

}  // namespace mlrun::placement
