// SPDX-License-Identifier: Apache-2.0
// A thread that is cancelled inside a hooked call is unwound through the wrapper's frame. The cleanup attribute there
// (traced_call.h) makes the compiler describe the frame with __gcc_personality_v0; this one is ours and hidden. It
// records the pending call and lets the unwinder continue: no landing pad runs, and libgcc is not needed, whose static
// part uses a symbol of glibc 2.35.
#pragma GCC visibility push(hidden)
#include <unwind.h>
#pragma GCC visibility pop

#include "preload/calls/traced_call.h"

// A pending call counts only if it is at most this far up the stack: one that a siglongjmp has left behind may be
// anywhere.
enum { kStackReachBytes = 64 << 20 };

_Unwind_Reason_Code __attribute__((visibility("hidden")))
__gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                     struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
  (void)version;
  (void)class;
  (void)exception;
  (void)context;
  struct pending_call *call = this_thread.pending;
  char here;
  bool in_reach = (uintptr_t)call - (uintptr_t)&here < kStackReachBytes;
  if (actions & _UA_CLEANUP_PHASE && in_reach) record_cancelled_call(call);
  return _URC_CONTINUE_UNWIND;
}

// Referenced by landing pads that are never entered.
void _Unwind_Resume(struct _Unwind_Exception *exception) {
  (void)exception;
  __builtin_trap();
}
