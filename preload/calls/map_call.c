// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/map_call.h"

#include "preload/calls/ring_watch.h"

void end_map_call(const struct map_call *map, int64_t result) {
  compiler_barrier();
  const struct pending_call *call = &map->call;
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  if (unlikely(rings_are_there) && call->fd >= 0 && result != -1)
    note_ring_mapped(call->fd, call->offset, (uint64_t)result);
  int64_t outcome = result == -1 ? -(int64_t)errno : result;
  if (map->asks && call->open_file != OPEN_FILE_LEFT_OUT)
    put_wide_call(call, end, outcome, map->before, map->wanted);
  else
    put_call(call, end, outcome, 0);
}
