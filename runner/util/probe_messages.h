// SPDX-License-Identifier: Apache-2.0
// Sends and receives messages of runner/events/probe_protocol.h with their texts. A message that does not fit into one
// packet is sent in several.
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

// Blocks while the other end has not read earlier messages. False: it has exited.
bool send_probe_message(int socket, mlrun_probe_message_type type, int32_t value, std::string_view text);

// Receives a complete message of mlrun-probes. Fails when it has exited or is silent for `timeout_ms`.
Result<ProbeMessage> receive_probe_message(int socket, int timeout_ms);

}  // namespace mlrun::util
