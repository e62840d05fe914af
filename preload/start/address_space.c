// SPDX-License-Identifier: Apache-2.0
// Unmapping while other threads record: a thread that claims a segment writes the owner word and then reads
// process.segment_count again; this file lowers segment_count and then reads the owner words. One of the two sees the
// other's change, so no thread writes into an unmapped segment. Segments from the new segment_count on are never claimed
// again in this process.
#include "preload/start/address_space.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/raw_syscall.h"
#include "preload/core/recorder.h"
#include "preload/files/fd_table.h"
#include "preload/record/channel.h"
#include "preload/record/segments.h"

enum { kShareOfAddressSpace = 16, kLeastSegments = 4, kChannelsInSegment = 16 };

size_t mappable_bytes(size_t bytes, bool *limited) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  raw_syscall4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit);
  *limited = limit.rlim_cur != RLIM_INFINITY;
  size_t share = limit.rlim_cur / kShareOfAddressSpace & ~4095ul;
  return *limited && bytes > share ? share : bytes;
}

// Whether a thread of this process may be using the segment. Descriptor segments are never unmapped, so those below
// `mapped` can be read.
static bool is_in_use_here(uint32_t segment, uint32_t mapped) {
  uint32_t owner = __atomic_load_n(&process.owner[segment], __ATOMIC_SEQ_CST) & MLRUN_OWNER_MASK;
  if (!owner) return false;
  if (owner >= MLRUN_OWNER_PREPARING) return true;
  uint32_t descriptor = owner - 1;
  if (descriptor / kChannelsInSegment >= mapped) return true;  // unknown
  const struct mlrun_channel *channel =
      (const struct mlrun_channel *)(segment_start(descriptor / kChannelsInSegment) +
                                     descriptor % kChannelsInSegment * MLRUN_CHANNEL_BYTES);
  return channel->process == process.wiped->process_number;
}

static void unmap_segments(uint32_t first, uint32_t end) {
  for (uint32_t run = first; run < end;) {
    uint32_t stop = run;
    while (stop < end && !is_in_use_here(stop, end)) stop++;
    if (stop > run) raw_syscall2(SYS_munmap, (long)segment_start(run), (long)(stop - run) * MLRUN_SEGMENT_BYTES);
    run = stop + 1;
  }
}

void fit_address_space(size_t limit) {
  static bool busy;  // a second thread must not unmap again: the program may get the unmapped addresses at once
  if (!process.arena || in_vfork_child() || !recording_system_calls_allowed() || !recording_is_on()) return;
  size_t share = limit / kShareOfAddressSpace, before = (size_t)(segments - process.arena);
  size_t count = share > before ? (share - before) / MLRUN_SEGMENT_BYTES : 0;
  if (count < kLeastSegments) count = kLeastSegments;
  if (count >= process.segment_count || __atomic_exchange_n(&busy, true, __ATOMIC_ACQ_REL)) return;
  uint32_t end = process.segment_count;
  if (count < end) {
    __atomic_store_n(&process.segment_count, (uint32_t)count, __ATOMIC_SEQ_CST);
    unmap_segments((uint32_t)count, end);
  }
  __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}
