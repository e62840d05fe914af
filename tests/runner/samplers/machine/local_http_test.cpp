// SPDX-License-Identifier: Apache-2.0
// Servers on this machine that answer, keep the connection open, or hang.
#include "runner/samplers/machine/local_http.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runner/util/unique_fd.h"

namespace mlrun::machine {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

sockaddr_in here(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Listener {
 public:
  explicit Listener(int backlog) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = here(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_.get(), backlog), 0);
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] util::UniqueFd accepted() const { return util::UniqueFd(::accept(fd_.get(), nullptr, nullptr)); }

 private:
  util::UniqueFd fd_;
  uint16_t port_ = 0;
};

// What get_local() makes of the answer of a server that closes the connection after it, or keeps it open.
Result<std::string> asked(const std::string& answer, bool keeps_open, std::string* request = nullptr) {
  const Listener listener(5);
  util::UniqueFd kept;
  std::thread server([&] {
    util::UniqueFd fd = listener.accepted();
    std::array<char, 1024> text{};
    const ssize_t got = ::recv(fd.get(), text.data(), text.size(), 0);
    if (request != nullptr && got > 0) request->assign(text.data(), static_cast<size_t>(got));
    for (const char byte : answer) ::send(fd.get(), &byte, 1, MSG_NOSIGNAL);  // in pieces
    if (keeps_open) kept = std::move(fd);
  });
  auto result = get_local(listener.port(), "/metrics", 2s);
  server.join();
  return result;
}

TEST(LocalHttp, ABodyEndsWithTheConnectionOrWithItsLength) {
  std::string request;
  const auto closed = asked("HTTP/1.0 200 OK\r\nServer: x\r\n\r\nmany\r\n\r\nlines", false, &request);
  ASSERT_TRUE(closed) << closed.error().text;
  EXPECT_EQ(*closed, "many\r\n\r\nlines");
  EXPECT_EQ(request.rfind("GET /metrics HTTP/1.0\r\n", 0), 0u) << request;
  const auto before = Clock::now();
  const auto open = asked("HTTP/1.1 200 OK\r\ncontent-length:  5 \r\n\r\nlines", true);
  ASSERT_TRUE(open) << open.error().text;
  EXPECT_EQ(*open, "lines");
  EXPECT_LT(Clock::now() - before, 1s);
}

TEST(LocalHttp, AnAnswerThatIsCutShortOrOfAnotherStatusIsAnError) {
  const auto is_error = [](const std::string& answer, const std::string& text) {
    const auto result = asked(answer, false);
    return !result && result.error().text.find(text) != std::string::npos;
  };
  EXPECT_TRUE(is_error("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nlines", "closed the connection"));
  EXPECT_TRUE(is_error("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "is not pcm-sensor-server"));
  EXPECT_TRUE(is_error("SSH-2.0", "is not pcm-sensor-server"));
}

// Each call took 130 s: the kernel drops a connection for which the queue has no room, and tries again.
TEST(LocalHttp, AServerThatHangsIsNotWaitedFor) {
  const Listener silent(5), full(0);
  std::vector<util::UniqueFd> waiting;
  for (int i = 0; i < 4; ++i) {
    const sockaddr_in address = here(full.port());
    waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    static_cast<void>(::connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  }
  for (const Listener* server : {&silent, &full}) {
    const auto before = Clock::now();
    const auto result = get_local(server->port(), "/metrics", 200ms);
    EXPECT_LT(Clock::now() - before, 10s);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().text.find("does not answer in time"), std::string::npos) << result.error().text;
  }
}

TEST(LocalHttp, APortWithoutAServerIsSaidAtOnce) {
  const uint16_t port = Listener(1).port();
  const auto before = Clock::now();
  const auto result = get_local(port, "/metrics", 10s);
  EXPECT_LT(Clock::now() - before, 5s);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("no answer on port"), std::string::npos) << result.error().text;
}

}  // namespace
}  // namespace mlrun::machine
