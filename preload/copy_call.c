// SPDX-License-Identifier: Apache-2.0
#include "preload/copy_call.h"

enum { kCopyUnits = 5 };

void begin_copy_call(struct copy_call *copy) {
  begin_call(&copy->call);
  if (unlikely(!copy->call.start)) return;
  copy->second_open_file = known_open_file(copy->second_fd);
  if (likely(copy->second_open_file || copy->second_fd < 0)) return;
  copy->second_open_file = identify_open_file(copy->second_fd);
  copy->call.start = now_ticks();
}

static uint64_t offset_before(const off_t *at, int64_t moved) {
  return at && moved >= 0 ? (uint64_t)(*at - moved) : MLRUN_NO_OFFSET;
}

// A file that the path rules leave out stays without a name beside one that is recorded.
static uint32_t named(uint32_t open_file) { return open_file == OPEN_FILE_LEFT_OUT ? 0 : open_file; }

void end_copy_call(struct copy_call *copy, const off_t *at, const off_t *second_at, int64_t result) {
  compiler_barrier();
  const struct pending_call *call = &copy->call;
  if (unlikely(!call->start)) return;
  uint64_t end = now_ticks();
  int64_t told = result == -1 ? -(int64_t)errno : result;
  if (unlikely(call->open_file == OPEN_FILE_LEFT_OUT && copy->second_open_file == OPEN_FILE_LEFT_OUT)) {
    count_left_out(call->kind, end - call->start, told);
    return;
  }
  struct pending_call first = *call;
  first.open_file = named(call->open_file);
  first.offset = offset_before(at, result);
  struct stack stack = stack_of_program();
  uint32_t units = kCopyUnits + (stack.id ? kStackUnitBytes / MLRUN_UNIT_BYTES : 0);
  uint8_t lap;
  uint64_t *w = reserve(stack.definition_bytes + units * MLRUN_UNIT_BYTES, call->kind, &lap);
  if (likely(w)) {
    w = stack_write(&stack, w, lap);
    write_call(w, &first, end, told, stack.id ? MLRUN_CALL_STACK : 0);
    w[8] = (uint64_t)named(copy->second_open_file) << 8;
    w[9] = offset_before(second_at, result);
    if (stack.id) write_stack_unit(w + 10, stack.id);
    publish(w, lap, units, call->kind, (uint32_t)call->fd);
  }
  stack_release(&stack);
}
