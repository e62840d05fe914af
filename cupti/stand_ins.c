// SPDX-License-Identifier: Apache-2.0
// Functions with the names of CUPTI's. This library precedes libcupti in symbol lookup order, so another tool that is
// linked with CUPTI calls these. They track what the tool does, and call CUPTI. A tool that is linked with another
// libcupti than the one that we use takes CUPTI over as well, since both use one driver; but its callbacks and its
// clock are registered only with its own libcupti.
#include "cupti/buffers.h"
#include "cupti/kinds.h"
#include "cupti/linked_entry.h"
#include "cupti/other_client_state.h"
#include "cupti/other_clients.h"
#include "cupti/other_clock.h"
#include "cupti/session.h"

// The bit in `kinds` for all that is switched on and whose end is not tracked: kinds from 63 on, kinds of one context, callbacks of one
// call. Only a refusal by CUPTI clears it.
enum { kForGood = 63 };

#define REAL(name, ...) REAL_CALL(int (*)(__VA_ARGS__), cupti_function_behind(#name, caller))

#define ANSWER(name, major, arguments) return name##_of arguments;
// The entry with number 0 is for callers without a symbol version.
#define STAND_IN(name, parameters, arguments)                      \
  LINKED_ENTRIES("libcupti", name, parameters, arguments, ANSWER); \
  LINKED_ENTRY(name, 0, "@@MLRUN", parameters, arguments, ANSWER)

// If the tool registers its callbacks or its clock before our session begins, it keeps CUPTI: we do not record.
static enum entry enter_first(void) {
  uint32_t state = __atomic_load_n(&session.state, __ATOMIC_ACQUIRE);
  if (state == kIdle) other.was_first = true;
  return enter_other();
}

static int cuptiActivityRegisterCallbacks_of(struct linked_caller caller, cupti_request_buffer request,
                                             cupti_buffer_done done) {
  REAL(cuptiActivityRegisterCallbacks, cupti_request_buffer, cupti_buffer_done);
  enum entry entry = enter_first();
  bool is_client = entry != kPassOn && request && done && other.owner != kTheirsForGood;
  bool is_ours = is_client && real.call == session.cupti.register_callbacks;
  if (is_client) hand_cupti_over();
  if (is_ours) {
    other.request = request;
    other.done = done;
  } else if (is_client) {
    other.is_elsewhere = true;
  }
  leave_other(entry);
  // Registers our callbacks again: a client that bypassed our functions may have replaced them.
  return is_ours ? real.call(request_buffer, buffer_done) : real.call(request, done);
}
STAND_IN(cuptiActivityRegisterCallbacks, (cupti_request_buffer request, cupti_buffer_done done),
         (caller, request, done));

static int cuptiActivityRegisterTimestampCallback_of(struct linked_caller caller, cupti_timestamp callback) {
  REAL(cuptiActivityRegisterTimestampCallback, cupti_timestamp);
  enum entry entry = enter_first();
  if (entry != kPassOn) hand_cupti_over();
  int answer = real.call(callback);
  bool is_our_clock = entry != kPassOn && real.call == session.cupti.register_timestamp;
  if (is_our_clock && answer == CUPTI_OK && callback) set_other_clock(callback);
  leave_other(entry);
  return answer;
}
STAND_IN(cuptiActivityRegisterTimestampCallback, (cupti_timestamp callback), (caller, callback));

static uint64_t bit_of(uint32_t kind) { return 1ull << (kind < kForGood ? kind : kForGood); }

// Called before the tool switches a kind on. If the tool has callbacks, our kinds go off first. Returns the kind's bit,
// or 0 if the tool had it on, or the call is only passed on.
static uint64_t note_on(uint32_t kind) {
  enum entry entry = enter_other();
  if (entry == kPassOn) return 0;
  if (other.request || other.is_elsewhere) hand_cupti_over();
  uint64_t fresh = bit_of(kind) & ~other.kinds;
  other.kinds |= fresh;
  other.is_unfetched = true;
  leave_other(entry);
  return fresh;
}

// Called with CUPTI's answer: a kind that CUPTI refused is not on, and the tool will not switch it off.
static int note_answer(int answer, uint64_t fresh) {
  if (answer == CUPTI_OK || !fresh) return answer;
  enum entry entry = enter_other();
  if (entry != kPassOn) other.kinds &= ~fresh;
  leave_other(entry);
  return answer;
}

static int cuptiActivityEnable_of(struct linked_caller caller, uint32_t kind) {
  REAL(cuptiActivityEnable, uint32_t);
  uint64_t fresh = note_on(kind);
  return note_answer(real.call(kind), fresh);
}
STAND_IN(cuptiActivityEnable, (uint32_t kind), (caller, kind));

static int cuptiActivityEnableAndDump_of(struct linked_caller caller, uint32_t kind) {
  REAL(cuptiActivityEnableAndDump, uint32_t);
  uint64_t fresh = note_on(kind);
  return note_answer(real.call(kind), fresh);
}
STAND_IN(cuptiActivityEnableAndDump, (uint32_t kind), (caller, kind));

static int cuptiActivityEnableContext_of(struct linked_caller caller, void *context, uint32_t kind) {
  REAL(cuptiActivityEnableContext, void *, uint32_t);
  uint64_t fresh = note_on(kForGood);
  return note_answer(real.call(context, kind), fresh);
}
STAND_IN(cuptiActivityEnableContext, (void *context, uint32_t kind), (caller, context, kind));

// While CUPTI is ours, a call that switches off a kind of ours is not passed on.
static int cuptiActivityDisable_of(struct linked_caller caller, uint32_t kind) {
  REAL(cuptiActivityDisable, uint32_t);
  enum entry entry = enter_other();
  if (entry == kPassOn) return real.call(kind);
  bool is_ours =
      real.call == session.cupti.disable && !cupti_is_taken() && kind < kForGood && wanted_kinds() >> kind & 1;
  leave_other(entry);
  int answer = is_ours ? CUPTI_OK : real.call(kind);
  entry = enter_other();
  if (entry != kPassOn && kind < kForGood) other.kinds &= ~bit_of(kind);
  leave_other(entry);
  return answer;
}
STAND_IN(cuptiActivityDisable, (uint32_t kind), (caller, kind));

static int cuptiActivityEnableDriverApi_of(struct linked_caller caller, uint32_t function, uint8_t enable) {
  REAL(cuptiActivityEnableDriverApi, uint32_t, uint8_t);
  uint64_t fresh = enable ? note_on(kForGood) : 0;
  bool is_ours = real.call == session.cupti.enable_driver_call;
  if (!enable && is_ours && session_is_ours() && !cupti_is_taken()) return CUPTI_OK;
  return note_answer(real.call(function, enable), fresh);
}
STAND_IN(cuptiActivityEnableDriverApi, (uint32_t function, uint8_t enable), (caller, function, enable));

static int cuptiActivityEnableRuntimeApi_of(struct linked_caller caller, uint32_t function, uint8_t enable) {
  REAL(cuptiActivityEnableRuntimeApi, uint32_t, uint8_t);
  uint64_t fresh = enable ? note_on(kForGood) : 0;
  bool is_ours = real.call == session.cupti.enable_runtime_call;
  if (!enable && is_ours && session_is_ours() && !cupti_is_taken()) return CUPTI_OK;
  return note_answer(real.call(function, enable), fresh);
}
STAND_IN(cuptiActivityEnableRuntimeApi, (uint32_t function, uint8_t enable), (caller, function, enable));

static int cuptiActivityEnableAllSyncRecords_of(struct linked_caller caller, uint8_t enable) {
  REAL(cuptiActivityEnableAllSyncRecords, uint8_t);
  enum entry entry = enter_other();
  bool is_later = entry != kPassOn && real.call == session.cupti.enable_all_syncs && !cupti_is_taken();
  other.leaves_syncs_out = !enable;
  leave_other(entry);
  return is_later ? CUPTI_OK : real.call(enable);
}
STAND_IN(cuptiActivityEnableAllSyncRecords, (uint8_t enable), (caller, enable));

// Hands CUPTI over if the tool switches buffers per thread off: that must not change while our kinds are on. PyTorch's
// profiler sets it at the start or the end of a session.
static int cuptiActivitySetAttribute_of(struct linked_caller caller, uint32_t attribute, size_t *bytes, void *value) {
  REAL(cuptiActivitySetAttribute, uint32_t, size_t *, void *);
  enum entry entry = enter_other();
  bool changes = entry != kPassOn && attribute == CUPTI_ATTR_PER_THREAD_BUFFER && bytes && *bytes && value &&
                 *(const uint8_t *)value != kOurThreadBuffers && real.call == session.cupti.set_attribute;
  if (changes) hand_cupti_over();
  leave_other(entry);
  return real.call(attribute, bytes, value);
}
STAND_IN(cuptiActivitySetAttribute, (uint32_t attribute, size_t *bytes, void *value),
         (caller, attribute, bytes, value));

// If the tool's kinds are off, this flush returns its last records.
static int cuptiActivityFlushAll_of(struct linked_caller caller, uint32_t flag) {
  REAL(cuptiActivityFlushAll, uint32_t);
  int answer = real.call(flag);
  enum entry entry = enter_other();
  if (entry != kPassOn && !other.kinds && cupti_is_taken()) other.is_unfetched = false;
  leave_other(entry);
  return answer;
}
STAND_IN(cuptiActivityFlushAll, (uint32_t flag), (caller, flag));

// cuptiFinalize removes our callbacks and kinds, too: we do not record any more.
static int cuptiFinalize_of(struct linked_caller caller) {
  REAL(cuptiFinalize, void);
  enum entry entry = enter_other();
  if (entry != kPassOn) lose_cupti();
  leave_other(entry);
  return real.call();
}
STAND_IN(cuptiFinalize, (void), (caller));
