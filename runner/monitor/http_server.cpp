// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/http_server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/util/clock.h"

// The linked libevent archive needs these functions, which libc has from 2.36 on. They are defined here, so that the
// program also starts with an older libc, as on Ubuntu 22.04.
extern "C" {
void arc4random_buf(void* buffer, size_t bytes) noexcept {
  auto* at = static_cast<unsigned char*>(buffer);
  while (bytes > 0) {
    const ssize_t done = ::getrandom(at, bytes, 0);
    if (done < 0 && errno != EINTR) std::abort();
    if (done <= 0) continue;
    at += done;
    bytes -= static_cast<size_t>(done);
  }
}
uint32_t arc4random() noexcept {
  uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}
}

namespace mlrun::monitor {

namespace {

constexpr int kSilenceS = 5;  // a connection without a byte received or sent is closed after this time
constexpr long kHeadersMax = 16 << 10, kBodyMax = 4 << 10;

uint16_t port_of(int fd, uint16_t otherwise) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return otherwise;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  return otherwise;
}

std::string path_of(const evhttp_request* request) {
  const evhttp_uri* uri = evhttp_request_get_evhttp_uri(request);
  const char* path = uri ? evhttp_uri_get_path(uri) : nullptr;
  return path && *path != 0 ? path : "/";
}

void send(evhttp_request* request, const HttpAnswer& answer) {
  evkeyvalq* headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", answer.content_type.c_str());
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  evhttp_add_header(headers, "Connection", "close");
  if (answer.status == HTTP_BADMETHOD) evhttp_add_header(headers, "Allow", "GET, HEAD");
  evbuffer* body = evhttp_request_get_output_buffer(request);
  evbuffer_add(body, answer.body.data(), answer.body.size());
  evhttp_send_reply(request, answer.status, nullptr, nullptr);
}

}  // namespace

HttpServer::HttpServer(event_base* base, ListenAddress address, Handler handler)
    : base_(base),
      address_(std::move(address)),
      handler_(std::move(handler)),
      http_(evhttp_new(base), [](evhttp* http) { evhttp_free(http); }) {}

HttpServer::~HttpServer() {
  http_.reset();
  while (!connections_.empty()) close_oldest();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(event_base* base, const ListenAddress& address, Handler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(base, address, std::move(handler)));
  if (const Status listening = server->listen(); !listening) return tl::make_unexpected(listening.error());
  return server;
}

Status HttpServer::listen() {
  evhttp* http = http_.get();
  if (!http) return fail("cannot serve metrics: out of memory");
  evhttp_set_timeout(http, kSilenceS);
  evhttp_set_max_headers_size(http, kHeadersMax);
  evhttp_set_max_body_size(http, kBodyMax);
  // Methods that are not listed here get status 501 from libevent. Listed ones reach answer(), which refuses all but GET
  // and HEAD with status 405 and the list of allowed methods.
  evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                       EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH);
  evhttp_set_bevcb(
      http, [](event_base*, void* self) { return static_cast<HttpServer*>(self)->new_connection(); }, this);
  evhttp_set_gencb(
      http, [](evhttp_request* request, void* self) { static_cast<const HttpServer*>(self)->answer(request); }, this);
  errno = 0;
  evhttp_bound_socket* socket = evhttp_bind_socket_with_handle(http, address_.host.c_str(), address_.port);
  if (!socket) {
    const std::string why = errno != 0 ? std::strerror(errno) : "there is no such address here";
    return fail(
        fmt::format("cannot listen on {}: {}; give another port or address with --listen", address_.text(), why));
  }
  address_.port = port_of(evhttp_bound_socket_get_fd(socket), address_.port);
  return {};
}

// libevent calls this to create the stream of each accepted connection. Our reference keeps the stream and its
// descriptor alive until we release it, so close_oldest() is safe if libevent has already closed the connection.
bufferevent* HttpServer::new_connection() {
  if (connections_.size() >= kConnectionsMax) close_oldest();
  bufferevent* stream = bufferevent_socket_new(base_, -1, BEV_OPT_CLOSE_ON_FREE);
  if (!stream) return nullptr;
  // libevent keeps reading while it writes an answer, so its buffer is limited to the size of a request.
  bufferevent_setwatermark(stream, EV_READ, 0, kHeadersMax + kBodyMax);
  bufferevent_incref(stream);
  connections_.push_back({stream, util::monotonic_ns()});
  return stream;
}

// Shuts the connection down; libevent then reads its end and frees its state.
void HttpServer::close_oldest() {
  bufferevent* stream = connections_.front().stream;
  connections_.pop_front();
  // shutdown fails if both sides have closed the connection.
  const int fd = bufferevent_getfd(stream);
  if (fd >= 0 && ::shutdown(fd, SHUT_RDWR) == 0) ++cut_connections_;
  bufferevent_decref(stream);
}

void HttpServer::close_old(uint64_t now_ns) {
  while (!connections_.empty() && now_ns - connections_.front().born_ns >= kConnectionNs) close_oldest();
}

// Called from libevent, which is C: must not throw.
void HttpServer::answer(evhttp_request* request) const {
  try {
    const evhttp_cmd_type method = evhttp_request_get_command(request);
    if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD) {
      send(request, {.status = HTTP_BADMETHOD, .body = "only GET and HEAD\n"});
      return;
    }
    const char* accept = evhttp_find_header(evhttp_request_get_input_headers(request), "Accept");
    send(request, handler_(path_of(request), accept ? accept : ""));
  } catch (const std::exception&) {
    evhttp_send_error(request, HTTP_INTERNAL, nullptr);
  }
}

}  // namespace mlrun::monitor
