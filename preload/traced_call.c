// SPDX-License-Identifier: Apache-2.0
#include "preload/traced_call.h"

#include "preload/path_call.h"
#include "preload/stream_call.h"

static void put_cancelled_path(struct path_call *path) {
  uint64_t flags = MLRUN_CALL_CANCELLED | (path->opens ? 0 : MLRUN_CALL_PASSED_FD);
  put_path_call(path, now_ticks(), -ECANCELED, ECANCELED, flags);
}

// The lock is given back as the real function's own hold on it was, when its frame was unwound.
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
    case kCallOnFd: put_call(call, now_ticks(), -ECANCELED, MLRUN_CALL_CANCELLED); break;
    case kCallOnPath: put_cancelled_path((struct path_call *)call); break;
    case kCallOnStream: put_cancelled_stream((struct stream_call *)call); break;
  }
}
