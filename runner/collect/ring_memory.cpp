// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/ring_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "runner/events/arena.h"
#include "runner/util/unique_fd.h"

namespace mlrun::collect {

util::Mapping map_ring(int fd, off_t offset) {
  util::Mapping room(::mmap(nullptr, 2 * MLRUN_STAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                     2 * MLRUN_STAGE_BYTES);
  if (!room.valid()) return {};
  for (int half = 0; half < 2; half++) {
    void* at = room.data() + static_cast<ptrdiff_t>(half) * MLRUN_STAGE_BYTES;
    if (::mmap(at, MLRUN_STAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED) {
      return {};
    }
  }
  return room;
}

util::Mapping make_ring() {
  const util::UniqueFd fd(::memfd_create("mlrun-ring", MFD_CLOEXEC));
  if (!fd.valid() || ::ftruncate(fd.get(), MLRUN_STAGE_BYTES) != 0) return {};
  return map_ring(fd.get(), 0);
}

}  // namespace mlrun::collect
