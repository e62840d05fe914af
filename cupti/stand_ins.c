// SPDX-License-Identifier: Apache-2.0
// This library stands before libcupti in the order of look-up, so a tool that is linked with CUPTI calls these. They
// note what the tool does, and do it.
#include "cupti/find_cupti.h"
#include "cupti/kinds.h"
#include "cupti/other_client_state.h"
#include "cupti/other_clients.h"
#include "cupti/other_clock.h"
#include "cupti/session.h"
#include "preload/compiler.h"

enum { kUnknownError = 999 };
// Instead of a kind: when that which was switched on goes off is not followed.
enum { kForGood = 63 };

#define REAL(name, ...)                   \
  union {                                 \
    void *address;                        \
    int (*call)(__VA_ARGS__);             \
  } real = {loaded_cupti_function(name)}; \
  if (!real.address) return kUnknownError

// Before our start the program's tool is there first, and stays.
static enum entry enter_first(void) {
  uint32_t state = __atomic_load_n(&session.state, __ATOMIC_ACQUIRE);
  if (state == kIdle) other.was_first = true;
  return enter_other();
}

int cuptiActivityRegisterCallbacks(cupti_request_buffer request, cupti_buffer_done done);
EXPORT int cuptiActivityRegisterCallbacks(cupti_request_buffer request, cupti_buffer_done done) {
  REAL("cuptiActivityRegisterCallbacks", cupti_request_buffer, cupti_buffer_done);
  enum entry entry = enter_first();
  bool is_ours = entry != kPassOn && request && done && other.owner != kTheirsForGood &&
                 real.call == session.cupti.register_callbacks;
  if (is_ours) {
    hand_cupti_over();
    other.request = request;
    other.done = done;
  }
  leave_other(entry);
  return is_ours ? CUPTI_OK : real.call(request, done);
}

int cuptiActivityRegisterTimestampCallback(cupti_timestamp callback);
EXPORT int cuptiActivityRegisterTimestampCallback(cupti_timestamp callback) {
  REAL("cuptiActivityRegisterTimestampCallback", cupti_timestamp);
  enum entry entry = enter_first();
  if (entry != kPassOn) hand_cupti_over();
  int answer = real.call(callback);
  if (entry != kPassOn && answer == CUPTI_OK && callback) set_other_clock(callback);
  leave_other(entry);
  return answer;
}

static uint64_t bit_of(uint32_t kind) { return 1ull << (kind < kForGood ? kind : kForGood); }

// Before it is switched on: all of ours is off then. The bit, if the tool did not have it on before.
static uint64_t note_on(uint32_t kind) {
  enum entry entry = enter_other();
  if (entry == kPassOn) return 0;
  if (other.request) hand_cupti_over();
  uint64_t fresh = bit_of(kind) & ~other.kinds;
  other.kinds |= fresh;
  other.is_unfetched = true;
  leave_other(entry);
  return fresh;
}

// CUPTI refused it, so it will not be switched off either.
static int note_answer(int answer, uint64_t fresh) {
  if (answer == CUPTI_OK || !fresh) return answer;
  enum entry entry = enter_other();
  if (entry != kPassOn) other.kinds &= ~fresh;
  leave_other(entry);
  return answer;
}

int cuptiActivityEnable(uint32_t kind);
EXPORT int cuptiActivityEnable(uint32_t kind) {
  REAL("cuptiActivityEnable", uint32_t);
  uint64_t fresh = note_on(kind);
  return note_answer(real.call(kind), fresh);
}

int cuptiActivityEnableAndDump(uint32_t kind);
EXPORT int cuptiActivityEnableAndDump(uint32_t kind) {
  REAL("cuptiActivityEnableAndDump", uint32_t);
  uint64_t fresh = note_on(kind);
  return note_answer(real.call(kind), fresh);
}

int cuptiActivityEnableContext(void *context, uint32_t kind);
EXPORT int cuptiActivityEnableContext(void *context, uint32_t kind) {
  REAL("cuptiActivityEnableContext", void *, uint32_t);
  uint64_t fresh = note_on(kForGood);
  return note_answer(real.call(context, kind), fresh);
}

// While CUPTI is ours the tool has nothing on, and what it switches off is ours.
int cuptiActivityDisable(uint32_t kind);
EXPORT int cuptiActivityDisable(uint32_t kind) {
  REAL("cuptiActivityDisable", uint32_t);
  enum entry entry = enter_other();
  if (entry == kPassOn) return real.call(kind);
  bool is_ours = !cupti_is_taken() && kind < kForGood && wanted_kinds() >> kind & 1;
  leave_other(entry);
  int answer = is_ours ? CUPTI_OK : real.call(kind);
  entry = enter_other();
  if (entry != kPassOn && kind < kForGood) other.kinds &= ~bit_of(kind);
  leave_other(entry);
  return answer;
}

int cuptiActivityEnableDriverApi(uint32_t function, uint8_t enable);
EXPORT int cuptiActivityEnableDriverApi(uint32_t function, uint8_t enable) {
  REAL("cuptiActivityEnableDriverApi", uint32_t, uint8_t);
  uint64_t fresh = enable ? note_on(kForGood) : 0;
  if (!enable && session_is_ours() && !cupti_is_taken()) return CUPTI_OK;
  return note_answer(real.call(function, enable), fresh);
}

int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t enable);
EXPORT int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t enable) {
  REAL("cuptiActivityEnableRuntimeApi", uint32_t, uint8_t);
  uint64_t fresh = enable ? note_on(kForGood) : 0;
  if (!enable && session_is_ours() && !cupti_is_taken()) return CUPTI_OK;
  return note_answer(real.call(function, enable), fresh);
}

// With its kinds off this brings the last of the tool's records.
int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityFlushAll(uint32_t flag) {
  REAL("cuptiActivityFlushAll", uint32_t);
  int answer = real.call(flag);
  enum entry entry = enter_other();
  if (entry != kPassOn && !other.kinds && cupti_is_taken()) other.is_unfetched = false;
  leave_other(entry);
  return answer;
}

// CUPTI begins anew after this, without us.
int cuptiFinalize(void);
EXPORT int cuptiFinalize(void) {
  REAL("cuptiFinalize", void);
  enum entry entry = enter_other();
  if (entry != kPassOn) lose_cupti();
  leave_other(entry);
  return real.call();
}
