// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/traced_call.h"

#include "preload/base/scratch.h"
#include "preload/calls/path_call.h"
#include "preload/calls/stream_call.h"
#include "preload/record/posts.h"

enum { kWideUnits = 5 };

static void put_cancelled_path(struct path_call *path) {
  uint64_t flags = MLRUN_CALL_CANCELLED | (path->opens ? 0 : MLRUN_CALL_PASSED_FD);
  put_path_call(path, now_ticks(), -ECANCELED, ECANCELED, flags);
  scratch_give(path->copy);
}

// Without a stack for a cancelled call: its frame is being unwound, so the stack no longer shows how it was called.
void put_call_at_stack(const struct pending_call *call, uint64_t end, int64_t result, uint64_t flags) {
  struct stack stack = {0};
  if (!(flags & MLRUN_CALL_CANCELLED)) stack = stack_of_program();
  uint32_t stack_bytes = stack.id ? kStackUnitBytes : 0;
  uint8_t lap;
  uint64_t *w = reserve(stack.definition_bytes + 64 + stack_bytes, call->kind, &lap);
  if (w) {
    w = stack_write(&stack, w, lap);
    write_call(w, call, end, result, flags | (stack.id ? MLRUN_CALL_STACK : 0));
    if (stack.id) write_stack_unit(w + 8, stack.id);
    publish(w, lap, (64 + stack_bytes) / MLRUN_UNIT_BYTES, call->kind, (uint32_t)call->fd);
  }
  stack_release(&stack);
}

void put_wide_call(const struct pending_call *call, uint64_t end, int64_t result, uint64_t w8, uint64_t w9) {
  struct stack stack = stack_of_program();
  uint32_t units = kWideUnits + (stack.id ? kStackUnitBytes / MLRUN_UNIT_BYTES : 0);
  uint8_t lap;
  uint64_t *w = reserve(stack.definition_bytes + units * MLRUN_UNIT_BYTES, call->kind, &lap);
  if (likely(w)) {
    w = stack_write(&stack, w, lap);
    write_call(w, call, end, result, stack.id ? MLRUN_CALL_STACK : 0);
    w[8] = w8 << 8;
    w[9] = w9;
    if (stack.id) write_stack_unit(w + 10, stack.id);
    publish(w, lap, units, call->kind, (uint32_t)call->fd);
  }
  stack_release(&stack);
}

// Releases the stream's lock that we took. libc's own hold was released when the frame of its function was unwound.
static void put_cancelled_stream(struct stream_call *stream) {
  unlock_stream(stream);
  stream->call.open_file = open_file_of(stream->call.fd);
  stream->call.offset = MLRUN_NO_OFFSET;
  stream->call.arg2 = take_buffered_calls(stream->call.fd);
  put_call(&stream->call, now_ticks(), -ECANCELED, MLRUN_CALL_CANCELLED | MLRUN_CALL_STDIO);
}

COLD void record_cancelled_call(struct pending_call *call) {
  leave_call(call);
  if (!call->start) return;
  switch ((enum call_form)call->form) {
    case kCallCountsWaiter: uncount_waiter((uintptr_t)call->arg2); __attribute__((fallthrough));
    case kCallOnFd: put_call(call, now_ticks(), -ECANCELED, MLRUN_CALL_CANCELLED); break;
    case kCallOnPath: put_cancelled_path((struct path_call *)call); break;
    case kCallOnStream: put_cancelled_stream((struct stream_call *)call); break;
  }
}
