// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/arena_place.h"

#include <linux/magic.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "runner/collect/arena_layout.h"

namespace mlrun::collect {

namespace {

constexpr std::string_view kPrefix = "mlrun-";
constexpr uint64_t kFreeNeeded = 1ull << 30;

// Free bytes of /dev/shm; 0: /dev/shm is not a tmpfs, or not writable.
uint64_t shared_memory_free() {
  struct statfs status {};
  if (::statfs(kSharedMemoryFolder, &status) != 0 || status.f_type != TMPFS_MAGIC) return 0;
  if (::access(kSharedMemoryFolder, W_OK) != 0) return 0;
  return static_cast<uint64_t>(status.f_bavail) * static_cast<uint64_t>(status.f_bsize);
}

std::string unique_name() {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<uint64_t>(::getpid());
  return fmt::format("{}{}-{:012x}", kPrefix, ::getpid(), random >> 16);
}

}  // namespace

std::vector<ArenaPlace> arena_places(const std::string& trace_folder, uint64_t buffer_bytes, bool exact) {
  std::vector<ArenaPlace> places;
  const uint64_t free = shared_memory_free();
  const uint64_t allowed = free >= kFreeNeeded ? free / 10 : 0;
  if (allowed >= buffer_bytes || (!exact && allowed > 0)) {
    const uint32_t count = segments_that_fit(std::min(allowed, buffer_bytes));
    places.push_back({fmt::format("{}/{}", kSharedMemoryFolder, unique_name()), "tmpfs", count});
  }
  if (trace_folder.find(',') == std::string::npos) {
    places.push_back({trace_folder + "/" + kArenaFile, "file", segments_that_fit(buffer_bytes)});
  }
  std::erase_if(places, [](const ArenaPlace& place) { return place.segment_count == 0; });
  return places;
}

bool is_arena_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const size_t dash = name.find_first_not_of("0123456789");
  if (dash == 0 || dash == std::string_view::npos || name[dash] != '-') return false;
  name.remove_prefix(dash + 1);
  return name.size() == 12 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace mlrun::collect
