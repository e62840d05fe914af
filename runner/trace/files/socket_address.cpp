// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/files/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

template <typename T>
bool read(std::string_view address, T& into) {
  if (address.size() < sizeof into) return false;
  std::memcpy(&into, address.data(), sizeof into);
  return true;
}

std::string with_port(int family, const void* host, uint16_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, host, text.data(), text.size()) == nullptr) return {};
  const std::string name = family == AF_INET6 ? "[" + std::string(text.data()) + "]" : std::string(text.data());
  return name + ":" + std::to_string(ntohs(port));
}

std::string local_name(std::string_view address) {
  if (address.size() <= offsetof(sockaddr_un, sun_path)) return {};
  std::string_view name = address.substr(offsetof(sockaddr_un, sun_path));
  if (name[0] == '\0') return "@" + util::escaped_utf8(name.substr(1));
  return util::escaped_utf8(name.substr(0, name.find('\0')));
}

}  // namespace

std::string socket_address_text(std::string_view address) {
  sa_family_t family = AF_UNSPEC;
  if (!read(address, family)) return {};
  if (family == AF_UNIX) return local_name(address);
  sockaddr_in in{};
  if (family == AF_INET && read(address, in)) return with_port(AF_INET, &in.sin_addr, in.sin_port);
  // sin6_scope_id, the last member, may be missing.
  sockaddr_in6 in6{};
  if (family != AF_INET6 || address.size() < offsetof(sockaddr_in6, sin6_scope_id)) return {};
  std::memcpy(&in6, address.data(), std::min(address.size(), sizeof in6));
  constexpr size_t kMappedPrefix = 12;
  if (!IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) return with_port(AF_INET6, &in6.sin6_addr, in6.sin6_port);
  return with_port(AF_INET, in6.sin6_addr.s6_addr + kMappedPrefix, in6.sin6_port);
}

}  // namespace mlrun::trace
