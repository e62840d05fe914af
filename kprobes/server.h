// SPDX-License-Identifier: Apache-2.0
// The life of mlrun-probes for one run: says whether it is ready, follows what it is told to, drains the rings, and ends
// when it is asked to or when the socket's other end is gone, whichever comes first.
#pragma once

#include "kprobes/attach/probes.h"

namespace mlrun::probes {

// The exit status. Requires: descriptors 3 and 4 as runner/events/probe_protocol.h says.
int serve(const Streams& streams);

}  // namespace mlrun::probes
