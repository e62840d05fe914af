// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/monitor.h"

#include <event2/event.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runner/monitor/gpu_feed.h"
#include "runner/monitor/http_server.h"
#include "runner/monitor/local_time.h"
#include "runner/monitor/metrics.h"
#include "runner/monitor/process_names.h"
#include "runner/monitor/screen.h"
#include "runner/monitor/table.h"
#include "runner/util/clock.h"
#include "runner/util/log.h"
#include "runner/util/program.h"
#include "runner/util/text.h"
#include "runner/util/time_units.h"

namespace mlrun::monitor {

namespace {

constexpr uint64_t kLongestPauseNs = 250'000'000;
constexpr const char* kIndexPage = "mlrun monitor: /metrics for Prometheus, /healthz\n";

struct EventBaseDelete {
  void operator()(event_base* base) const { event_base_free(base); }
};
struct EventDelete {
  void operator()(event* event) const { event_free(event); }
};
using Event = std::unique_ptr<event, EventDelete>;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class Monitor {
 public:
  explicit Monitor(const Settings& settings)
      : settings_(settings),
        hostname_(util::escaped_utf8(settings.hostname.empty() ? host_name() : settings.hostname)),
        started_ns_(util::monotonic_ns()),
        started_s_(util::in_seconds(util::realtime_ns())),
        base_(event_base_new()),
        names_({.users = !settings.quiet, .args = settings.label_args}),
        feed_(settings.interval_ns) {}

  Result<int> run() {
    if (!base_) return fail("the monitor cannot start: out of memory");
    if (const Status serving = serve(); !serving) return tl::make_unexpected(serving.error());
    end_on_signals();
    const uint64_t pause_ns = std::min(settings_.interval_ns / 4, kLongestPauseNs);
    const timeval pause{0, static_cast<suseconds_t>(pause_ns / 1000)};
    const Event timer(event_new(
        base_.get(), -1, EV_PERSIST, [](evutil_socket_t, short, void* self) { static_cast<Monitor*>(self)->tick(); },
        this));
    if (!timer || event_add(timer.get(), &pause) != 0) return fail("the monitor cannot start: out of memory");
    event_base_dispatch(base_.get());
    if (error_) return tl::make_unexpected(*error_);
    return 0;
  }

  // Whether the table was written to a pipe whose reader has closed it.
  [[nodiscard]] bool reader_gone() const { return reader_gone_; }

 private:
  Status serve() {
    if (!settings_.listen) return {};
    auto server =
        HttpServer::start(base_.get(), *settings_.listen,
                          [this](const std::string& path, const std::string& accept) { return answer(path, accept); });
    if (!server) return tl::make_unexpected(server.error());
    server_ = *std::move(server);
    util::say(fmt::format("serving http://{}/metrics and /healthz", server_->address().text()));
    return {};
  }

  // Signals inherited as ignored (nohup) stay ignored.
  void end_on_signals() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction before {};
      if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
      Event& event = signals_.emplace_back(evsignal_new(
          base_.get(), number, [](evutil_socket_t, short, void* self) { static_cast<Monitor*>(self)->stop(); }, this));
      if (event) event_add(event.get(), nullptr);
    }
    ::signal(SIGPIPE, SIG_IGN);  // a client or the reader of the table may close its end
  }

  void stop() { event_base_loopbreak(base_.get()); }
  void stop(Error error) {
    error_ = std::move(error);
    stop();
  }

  void tick() {
    const uint64_t now_ns = util::monotonic_ns();
    const bool sampled = feed_.poll(now_ns, board_);
    if (sampled) names_.fill(board_.processes());
    ever_sampled_ = ever_sampled_ || sampled;
    report_problem();
    keep_shown(sampled && !settings_.quiet ? screen_.show(table_text(board_, local_time() + "  " + hostname_))
                                           : screen_.go_on());
    if (server_) server_->close_old(now_ns);
    if (settings_.duration_ns == 0 || now_ns - started_ns_ < settings_.duration_ns || error_) return;
    if (!ever_sampled_ && !server_)
      return stop({"the NVIDIA driver did not answer in time; give it a longer --duration"});
    stop();
  }

  void keep_shown(const Result<bool>& shown) {
    if (!shown) return stop(shown.error());
    if (*shown) return;
    reader_gone_ = true;
    stop();
  }

  void report_problem() {
    const std::string& problem = feed_.state().problem;
    const bool hangs = feed_.state().hangs;
    if (!problem.empty() && !hangs && !ever_sampled_ && !server_) return stop({problem});
    if (problem.empty() == reported_problem_.empty()) return;
    util::say(problem.empty() ? "the NVIDIA driver answers again"
                              : problem + (hangs ? "; waiting for it" : "; retrying until it answers"));
    reported_problem_ = problem;
  }

  HttpAnswer answer(const std::string& path, const std::string& accept) {
    if (path == "/metrics") return metrics(negotiate(accept));
    if (path == "/healthz") return health();
    if (path == "/") return {.body = kIndexPage};
    return {.status = 404, .body = "there is no such page; " + std::string(kIndexPage)};
  }

  HttpAnswer metrics(Format format) {
    const uint64_t begin_ns = util::monotonic_ns();
    served_.cut_connections = server_->cut_connections();
    std::string text = metrics_text({.board = board_,
                                     .feed = feed_.state(),
                                     .served = served_,
                                     .self = read_self_use(started_s_),
                                     .hostname = hostname_,
                                     .label_args = settings_.label_args},
                                    format);
    ++served_.scrapes;
    served_.scrape_ns += util::monotonic_ns() - begin_ns;
    return {.content_type = content_type(format), .body = std::move(text)};
  }

  [[nodiscard]] HttpAnswer health() const {
    const FeedState& state = feed_.state();
    if (!state.problem.empty()) return {.status = 503, .body = state.problem + "\n"};
    if (!ever_sampled_) return {.status = 503, .body = "no sample of the GPUs has been taken yet\n"};
    return {.body = "ok\n"};
  }

  const Settings& settings_;
  const std::string hostname_;
  const uint64_t started_ns_;
  const double started_s_;
  std::unique_ptr<event_base, EventBaseDelete> base_;  // declared before its users, so destroyed after them
  std::vector<Event> signals_;
  std::unique_ptr<HttpServer> server_;
  ProcessNames names_;
  GpuBoard board_;
  Screen screen_;
  ServedState served_;
  std::string reported_problem_;
  bool ever_sampled_ = false;
  bool reader_gone_ = false;
  std::optional<Error> error_;
  GpuFeed feed_;
};

}  // namespace

Result<int> run(const Settings& settings) {
  event_set_log_callback([](int, const char*) {});  // clients' errors must not reach our stderr
  Monitor monitor(settings);
  auto ended = monitor.run();
  if (monitor.reader_gone()) util::end_by_sigpipe();  // SIGPIPE was ignored so far; ends by it as other programs do
  return ended;
}

}  // namespace mlrun::monitor
