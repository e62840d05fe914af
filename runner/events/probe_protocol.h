// SPDX-License-Identifier: Apache-2.0
// Messages between mlrun and mlrun-probes, over a SOCK_SEQPACKET pair: one message a packet. mlrun passes the socket
// and the kernel side's spool file as descriptors 3 and 4. mlrun-probes ends when the socket is closed.
//
//   mlrun-probes -> READY text (JSON: which programs are attached) | REFUSED text (one line: why not)
//   mlrun        -> FOLLOW, with a pidfd (SCM_RIGHTS): record this process and its future descendants
//   mlrun        -> FOLLOW_CGROUP, with the cgroup folder's descriptor: all tasks in it and below, while they are there
//   mlrun        -> FOLLOW_SYSTEM: all tasks of the machine
//   mlrun-probes -> FOLLOWING value (0, or the errno)
//   mlrun-probes -> ENDED, if FOLLOW named processes that already ran: all of them and of their children have ended
//   mlrun        -> STOP
//   mlrun-probes -> REPORT text (JSON: devices, totals, losses), and ends
//   mlrun-probes -> MORE text, before any of its messages: the text of the next message begins with this text
#pragma once

#include "runner/events/types.h"

enum {
  MLRUN_PROBE_SOCKET_FD = 3,
  MLRUN_PROBE_SPOOL_FD = 4,
  MLRUN_PROBE_HEAD_BYTES = 8,
  MLRUN_PROBE_TEXT_MAX = 1 << 16
};

enum mlrun_probe_message_type {
  MLRUN_PROBE_READY = 1,
  MLRUN_PROBE_REFUSED = 2,
  MLRUN_PROBE_FOLLOW = 3,
  MLRUN_PROBE_FOLLOWING = 4,
  MLRUN_PROBE_STOP = 5,
  MLRUN_PROBE_REPORT = 6,
  MLRUN_PROBE_FOLLOW_CGROUP = 7,
  MLRUN_PROBE_FOLLOW_SYSTEM = 8,
  MLRUN_PROBE_ENDED = 9,
  MLRUN_PROBE_MORE = 10,
};

struct mlrun_probe_message {
  __u32 type;
  __s32 value;
  char text[MLRUN_PROBE_TEXT_MAX];  // as long as the packet; not terminated by NUL
};

MLRUN_STATIC_ASSERT(sizeof(struct mlrun_probe_message) == MLRUN_PROBE_HEAD_BYTES + MLRUN_PROBE_TEXT_MAX, "message");
