// SPDX-License-Identifier: Apache-2.0
// Addresses of sockets as text.
#pragma once

#include <string>
#include <string_view>

namespace mlrun::trace {

// A struct sockaddr as "127.0.0.1:80", "[::1]:80", "/run/socket" or "@name" (AF_UNIX, an abstract name). Empty: another family, no
// name, or damaged. An IPv4 address in IPv6 form is shown as IPv4. Names are valid UTF-8, other bytes as \xNN.
std::string socket_address_text(std::string_view address);

}  // namespace mlrun::trace
