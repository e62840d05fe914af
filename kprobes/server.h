// SPDX-License-Identifier: Apache-2.0
// One run of mlrun-probes: reports readiness, follows processes on request, drains the rings, and ends when asked to or
// when the socket's other end closes, whichever comes first.
#pragma once

#include "kprobes/attach/probes.h"

namespace mlrun::probes {

// The exit status. Requires: descriptors 3 and 4 as runner/events/probe_protocol.h says.
int serve(const Streams& streams);

}  // namespace mlrun::probes
