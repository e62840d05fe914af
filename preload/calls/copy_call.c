// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/copy_call.h"

#include "preload/core/program_memory.h"

void begin_copy_call(struct copy_call *copy) {
  begin_call(&copy->call);
  if (unlikely(!copy->call.start)) return;
  copy->second_open_file = known_open_file(copy->second_fd);
  if (unlikely(!copy->second_open_file && copy->second_fd >= 0)) {
    copy->second_open_file = identify_open_file(copy->second_fd);
    copy->call.start = now_ticks();
  }
  copy->watch = memory_watch();
}

static uint64_t offset_before(const off_t *at, int64_t moved, bool proven) {
  off_t after;
  bool known = at && moved >= 0 && read_from_program(&after, at, sizeof after, proven);
  return known ? (uint64_t)(after - moved) : MLRUN_NO_OFFSET;
}

// A left-out file gets no number in the record of a copy from or to a recorded one.
static uint32_t named(uint32_t open_file) { return open_file == OPEN_FILE_LEFT_OUT ? 0 : open_file; }

void end_copy_call(struct copy_call *copy, const off_t *at, const off_t *second_at, int64_t result) {
  compiler_barrier();
  const struct pending_call *call = &copy->call;
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  int64_t outcome = result == -1 ? -(int64_t)errno : result;
  if (unlikely(call->open_file == OPEN_FILE_LEFT_OUT && copy->second_open_file == OPEN_FILE_LEFT_OUT)) {
    count_left_out(call->kind, end - call->start, outcome);
    return;
  }
  struct pending_call first = *call;
  first.open_file = named(call->open_file);
  // A call of no bytes may return before the kernel reads the offsets.
  bool proven = result > 0 && success_is_proof(result) && call_was_quiet(copy->watch, end - call->start);
  first.offset = offset_before(at, result, proven);
  put_wide_call(&first, end, outcome, named(copy->second_open_file), offset_before(second_at, result, proven));
}
