// SPDX-License-Identifier: Apache-2.0
// State of another tool in the process that uses CUPTI, such as torch.profiler (other_clients.h). The tool's threads
// change it in our functions that precede CUPTI's (stand_ins.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cupti_abi.h"

#pragma GCC visibility push(hidden)

enum owner { kOurs, kTheirs, kTheirsForGood };

struct other_client {
  uint32_t owner;                // enum owner
  bool is_unfetched;             // it has had kinds on since it last fetched its records
  bool was_first;                // it registered callbacks or a clock before our session began
  bool is_elsewhere;             // it has registered its callbacks with another libcupti than the one that we use
  bool leaves_syncs_out;         // it wants no records of queries that found work unfinished
  cupti_request_buffer request;  // its callbacks; null: it has registered none
  cupti_buffer_done done;
  uint64_t kinds;  // a bit for each kind that it has switched on
  uint64_t last_call_ns, taken_ns;
};
extern struct other_client other;

enum entry {
  kPassOn,    // only pass the call on to CUPTI: we do not record, or it comes from CUPTI or us
  kLocked,    // `other` may be changed
  kUnlocked,  // `other` may be changed, although another thread has the lock: it may wait for this one
};
enum entry enter_other(void);
void leave_other(enum entry entry);

// Gives CUPTI to the other tool. Called on the tool's thread, between enter_other and leave_other. No effect if the
// tool has CUPTI already.
void hand_cupti_over(void);
// The other tool has CUPTI until the process ends. Called before cuptiFinalize, which removes our kinds and callbacks:
// does not flush. Waits until the flusher is out of CUPTI (enter_cupti), at most 0.2 s.
void lose_cupti(void);

#pragma GCC visibility pop
