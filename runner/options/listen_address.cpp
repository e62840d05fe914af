// SPDX-License-Identifier: Apache-2.0
#include "runner/options/listen_address.h"

#include <fmt/format.h>

#include "runner/util/number.h"

namespace mlrun::monitor {

std::string ListenAddress::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<ListenAddress> parse_listen(std::string_view text) {
  ListenAddress address;
  if (text.empty()) return address;
  const size_t colon = text.rfind(':');
  const bool has_host = colon != std::string_view::npos;
  const std::string_view port = has_host ? text.substr(colon + 1) : text;
  std::string_view host = has_host ? text.substr(0, colon) : address.host;
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  // Without brackets the last part of an IPv6 address would be read as a port.
  const bool host_is_clear = !host.empty() && host.find_first_of(in_brackets ? "[]" : "[]:") == std::string_view::npos;
  const auto number = util::whole_number<uint16_t>(port);
  if (!host_is_clear || !number) {
    return fail(fmt::format(
        "--listen {}: give a port, such as 2112, or an address and a port, such as 0.0.0.0:2112 or [::]:2112", text));
  }
  address.host = host;
  address.port = *number;
  return address;
}

}  // namespace mlrun::monitor
