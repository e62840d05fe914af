// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/http_server.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/util/clock.h"
#include "runner/util/unique_fd.h"

namespace mlrun::monitor {
namespace {

// The test is the event loop, and the clock of close_old.
class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    auto started = HttpServer::start(base_.get(), {"127.0.0.1", 0}, [](const std::string& path, const std::string&) {
      if (path == "/throws") throw std::runtime_error("no answer");
      return HttpAnswer{.body = "answer to " + path + "\n"};
    });
    EXPECT_TRUE(started) << started.error().text;
    server_ = *std::move(started);
  }

  util::UniqueFd connected() {
    util::UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->address().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    serve();
    return client;
  }

  void serve() { event_base_loop(base_.get(), EVLOOP_NONBLOCK); }

  bool is_open(const util::UniqueFd& client) {
    char byte = 0;
    serve();
    return ::recv(client.get(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

  // What the client receives, up to `end` or to the end of the connection.
  std::string received(const util::UniqueFd& client, const std::string& end) {
    std::string text;
    for (int turn = 0; turn < 5000 && !text.ends_with(end); turn++) {
      char buffer[4096];
      serve();
      const ssize_t count = ::recv(client.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (count == 0) break;
      if (count < 0) {
        ::usleep(1000);
        continue;
      }
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

  std::string answer(const std::string& request, const std::string& end) {
    const util::UniqueFd client = connected();
    const std::string text = request + " HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return received(client, end);
  }

  std::unique_ptr<event_base, void (*)(event_base*)> base_{event_base_new(), event_base_free};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersGetAndHeadAlone) {
  const std::string got = answer("GET /metrics?x=1", "answer to /metrics\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got;
  EXPECT_TRUE(got.ends_with("\r\n\r\nanswer to /metrics\n")) << got;
  const std::string head = answer("HEAD /metrics", "\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
  const std::string post = answer("POST /metrics", "only GET and HEAD\n");
  EXPECT_TRUE(post.starts_with("HTTP/1.1 405 ")) << post;
  EXPECT_NE(post.find("Allow: GET, HEAD\r\n"), std::string::npos) << post;
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsAnErrorOfOneRequest) {
  const std::string got = answer("GET /throws", "</HTML>\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 500 ")) << got;
  EXPECT_NE(answer("GET /", "answer to /\n").find("200 OK"), std::string::npos);
}

TEST_F(HttpServerTest, AClientThatSendsNothingIsCutWhenItsTimeIsOver) {
  const uint64_t before_ns = util::monotonic_ns();
  const util::UniqueFd silent = connected();
  EXPECT_NE(answer("GET /", "answer to /\n").find("200 OK"), std::string::npos) << "it keeps no other out";
  server_->close_old(before_ns + HttpServer::kConnectionNs - 1);
  EXPECT_TRUE(is_open(silent));
  EXPECT_EQ(server_->cut_connections(), 0u);
  server_->close_old(util::monotonic_ns() + HttpServer::kConnectionNs);
  EXPECT_FALSE(is_open(silent));
  EXPECT_GE(server_->cut_connections(), 1u);
}

TEST_F(HttpServerTest, AConnectionTooManyCutsTheOldest) {
  std::vector<util::UniqueFd> clients;
  for (size_t i = 0; i < HttpServer::kConnectionsMax; i++) clients.push_back(connected());
  EXPECT_TRUE(is_open(clients.front()));
  clients.push_back(connected());
  EXPECT_FALSE(is_open(clients.front()));
  for (size_t i = 1; i < clients.size(); i++) EXPECT_TRUE(is_open(clients[i])) << i;
  EXPECT_EQ(server_->cut_connections(), 1u);
}

}  // namespace
}  // namespace mlrun::monitor
