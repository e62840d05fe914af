// SPDX-License-Identifier: Apache-2.0
// Messages of runner/events/probe_protocol.h with their texts. One that does not fit a packet goes in several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runner/events/probe_protocol.h"
#include "runner/util/result.h"

namespace mlrun::util {

struct ProbeMessage {
  uint32_t type = 0;
  int32_t value = 0;  // 0, or an errno
  std::string text;
};

// Waits while the other end has not taken what was said before. False: it is gone.
bool send_probe_message(int socket, mlrun_probe_message_type type, int32_t value, std::string_view text);

// Of mlrun-probes, whole. Fails when it has gone or says nothing for `timeout_ms`.
Result<ProbeMessage> receive_probe_message(int socket, int timeout_ms);

}  // namespace mlrun::util
