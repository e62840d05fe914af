// SPDX-License-Identifier: Apache-2.0
// State of the program's own tool, for other_clients.c and for the functions that precede CUPTI's (stand_ins.c), in
// which the tool's thread changes it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cupti/cupti_abi.h"

#pragma GCC visibility push(hidden)

enum owner { kOurs, kTheirs, kTheirsForGood };

struct other_client {
  uint32_t owner;                // enum owner
  bool is_unfetched;             // its kinds were on since it last fetched its records
  bool was_first;                // it used CUPTI before our start
  bool is_elsewhere;             // it has registered its callbacks with another libcupti than ours
  bool leaves_syncs_out;         // it wants no records of queries that found work unfinished
  cupti_request_buffer request;  // null: it has never registered any
  cupti_buffer_done done;
  uint64_t kinds;  // a bit for each that it has on
  uint64_t last_call_ns, taken_ns;
};
extern struct other_client other;

enum entry {
  kPassOn,    // the call is not tracked
  kLocked,    // `other` may be changed
  kUnlocked,  // `other` may be changed, but the holder of the lock may wait for this thread
};
enum entry enter_other(void);
void leave_other(enum entry entry);

// On the tool's thread, between enter and leave. No effect if it has CUPTI already.
void hand_cupti_over(void);
// Until the process ends.
void lose_cupti(void);

#pragma GCC visibility pop
