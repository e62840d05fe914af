// SPDX-License-Identifier: Apache-2.0
#include "runner/util/probe_messages.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

namespace mlrun::util {

namespace {

constexpr size_t kTextMax = size_t{64} << 20;  // a report has about 200 bytes per device and operation

bool send_packet(int socket, uint32_t type, int32_t value, std::string_view text) {
  const auto message = std::make_unique<mlrun_probe_message>();
  message->type = type;
  message->value = value;
  text.copy(static_cast<char*>(message->text), text.size());
  ssize_t sent = 0;
  do {
    sent = ::send(socket, message.get(), MLRUN_PROBE_HEAD_BYTES + text.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent > 0;
}

// Receives one packet: appends its text to the message and takes over type and value. So those of the last packet count.
Status receive_packet(int socket, int timeout_ms, ProbeMessage& message) {
  pollfd ready{socket, POLLIN, 0};
  int polled = 0;
  do {
    polled = ::poll(&ready, 1, timeout_ms);
  } while (polled < 0 && errno == EINTR);
  if (polled == 0) return fail("mlrun-probes does not answer");
  const auto packet = std::make_unique<mlrun_probe_message>();
  const ssize_t got = polled > 0 ? ::recv(socket, packet.get(), sizeof *packet, 0) : 0;
  if (got < MLRUN_PROBE_HEAD_BYTES) return fail("mlrun-probes ended before its time");
  message.type = packet->type;
  message.value = packet->value;
  message.text.append(static_cast<const char*>(packet->text), static_cast<size_t>(got) - MLRUN_PROBE_HEAD_BYTES);
  return {};
}

}  // namespace

bool send_probe_message(int socket, mlrun_probe_message_type type, int32_t value, std::string_view text) {
  while (text.size() > MLRUN_PROBE_TEXT_MAX) {
    if (!send_packet(socket, MLRUN_PROBE_MORE, 0, text.substr(0, MLRUN_PROBE_TEXT_MAX))) return false;
    text.remove_prefix(MLRUN_PROBE_TEXT_MAX);
  }
  return send_packet(socket, type, value, text);
}

Result<ProbeMessage> receive_probe_message(int socket, int timeout_ms) {
  ProbeMessage message;
  do {
    if (Status received = receive_packet(socket, timeout_ms, message); !received) {
      return tl::make_unexpected(received.error());
    }
    if (message.text.size() > kTextMax) return fail("mlrun-probes sent a message that is longer than 64 MiB");
  } while (message.type == MLRUN_PROBE_MORE);
  return message;
}

}  // namespace mlrun::util
