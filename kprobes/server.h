// SPDX-License-Identifier: Apache-2.0
// One run of mlrun-probes: reports readiness to mlrun, traces processes on request, drains the rings, and ends when
// mlrun sends STOP or closes its end of the socket.
#pragma once

#include "kprobes/attach/probes.h"

namespace mlrun::probes {

// Returns the exit status. Requires: descriptors 3 and 4 are as in runner/events/probe_protocol.h.
int serve(const Streams& streams);

}  // namespace mlrun::probes
