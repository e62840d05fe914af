// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/local_http.h"

#include <arpa/inet.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "runner/util/number.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"

namespace mlrun::machine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kAnswerMax = 16 << 20;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

// False: `end` came first.
bool wait_for(int fd, short what, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready{fd, what, 0};
    if (left.count() <= 0) return false;
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

// 0 or an error number. The kernel drops a connection for which the server's queue has no room, and tries again for two minutes: so no call waits.
int connect_to(int fd, uint16_t port, Clock::time_point end) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(fd, POLLOUT, end)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// How long the answer is, by its Content-Length; nullopt: it has none, or its head is not complete.
std::optional<size_t> length_of(std::string_view answer) {
  constexpr std::string_view kName = "content-length:";
  const size_t head = answer.find(kHeadEnd);
  if (head == std::string_view::npos) return std::nullopt;
  for (const std::string_view line : util::split(answer.substr(0, head), "\r\n")) {
    if (line.size() <= kName.size() || ::strncasecmp(line.data(), kName.data(), kName.size()) != 0) continue;
    const auto bytes = util::whole_number<size_t>(util::trimmed(line.substr(kName.size())));
    if (bytes && *bytes <= kAnswerMax) return head + kHeadEnd.size() + *bytes;
  }
  return std::nullopt;
}

// Until the server closes the connection or, where it keeps it open, until all of Content-Length has come.
Result<std::string> receive(int fd, const std::string& server, Clock::time_point end) {
  std::string answer;
  std::optional<size_t> length;
  std::array<char, 16384> piece;
  while (!length || answer.size() < *length) {
    if (!wait_for(fd, POLLIN, end)) return fail(server + "does not answer in time");
    const ssize_t got = ::recv(fd, piece.data(), piece.size(), 0);
    if (got < 0) return fail(server + "closed the connection");
    if (got == 0) break;
    answer.append(piece.data(), static_cast<size_t>(got));
    if (answer.size() > kAnswerMax) return fail(server + "sends more than 16 MiB");
    if (!length) length = length_of(answer);
  }
  if (length && answer.size() < *length) return fail(server + "closed the connection");
  return answer;
}

}  // namespace

// HTTP 1.0: an answer has no chunks.
Result<std::string> get_local(uint16_t port, std::string_view path, std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  const std::string server = fmt::format("the server on port {} ", port);
  const util::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int error = fd.valid() ? connect_to(fd.get(), port, end) : errno;
  if (error == ETIMEDOUT) return fail(server + "does not answer in time");
  if (error != 0) return fail(fmt::format("no answer on port {} of this machine ({})", port, std::strerror(error)));
  const std::string request = fmt::format(
      "GET {} HTTP/1.0\r\nHost: localhost\r\nAccept: text/plain; version=0.0.4\r\nConnection: close\r\n\r\n", path);
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    return fail(server + "does not accept a request");
  auto answer = receive(fd.get(), server, end);
  if (!answer) return answer;
  const size_t head = answer->find(kHeadEnd);
  if (head == std::string::npos || answer->substr(0, answer->find('\r')).find(" 200") == std::string::npos)
    return fail(server + "is not pcm-sensor-server");
  return answer->substr(head + kHeadEnd.size());
}

}  // namespace mlrun::machine
