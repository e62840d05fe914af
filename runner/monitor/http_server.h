// SPDX-License-Identifier: Apache-2.0
// A small HTTP server for scrapes by Prometheus, based on libevent. It has no threads that slow clients could block.
//
//   accept ──> at most kConnectionsMax connections, a new one evicts the oldest
//      └────── each lives for kConnectionNs at most; one request, then it is closed
//
// So a slow client takes only a descriptor, for at most kConnectionNs.
#pragma once

#include <event2/util.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "runner/options/listen_address.h"
#include "runner/util/result.h"

struct bufferevent;
struct event;
struct event_base;
struct evhttp;
struct evhttp_request;

namespace mlrun::monitor {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
};

class HttpServer {
 public:
  static constexpr size_t kConnectionsMax = 64;
  static constexpr uint64_t kConnectionNs = 10'000'000'000;

  // `path`: without the query. `accept`: the Accept header, "" if there is none. Called only for GET and HEAD.
  using Handler = std::function<HttpAnswer(const std::string& path, const std::string& accept)>;

  // Starts to listen; requests are answered while the event loop runs. Requires: `base` outlives this object.
  static Result<std::unique_ptr<HttpServer>> start(event_base* base, const ListenAddress& address, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] const ListenAddress& address() const { return address_; }  // with the actual port if 0 was requested
  [[nodiscard]] uint64_t cut_connections() const { return cut_connections_; }

  // Closes connections that are too old; to be called about once a second.
  void close_old(uint64_t now_ns);

 private:
  struct Connection {
    bufferevent* stream;  // our reference; libevent may have closed it already
    uint64_t born_ns;
  };
  HttpServer(event_base* base, ListenAddress address, Handler handler);
  Status listen();
  bufferevent* new_connection();
  void close_oldest();
  void answer(evhttp_request* request) const;

  event_base* base_;
  ListenAddress address_;
  Handler handler_;
  std::unique_ptr<evhttp, void (*)(evhttp*)> http_;
  std::list<Connection> connections_;  // the oldest connection first
  uint64_t cut_connections_ = 0;
};

}  // namespace mlrun::monitor
