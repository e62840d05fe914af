// SPDX-License-Identifier: Apache-2.0
// mlrun-probes serve STREAMS   what mlrun starts (runner/events/probe_protocol.h)
// mlrun-probes check           tries everything on a scratch file, reports what works; status 2: some does not
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "kprobes/ability.h"
#include "kprobes/attach/probes.h"
#include "kprobes/self_test.h"
#include "kprobes/server.h"
#include "runner/events/probe_protocol.h"
#include "runner/util/program.h"
#include "runner/util/text.h"

namespace mlrun::probes {

namespace {

constexpr uint64_t kRingMax = 1 << 30;
constexpr const char* kUsage =
    "usage: mlrun-probes check | mlrun-probes serve "
    "block[,wait][,vfs][,syscalls][,cuda[,stacks]][,cufile][,torch][,calls][,command|observe|cgroup|system][,ring="
    "BYTES] "
    "(started by mlrun)\n";

// Ctrl-C and the like reach the whole process group. mlrun handles them and decides when mlrun-probes ends.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
}

// Prints the signals that work, by mechanism, in one line, then a line for each missing or limited signal.
int check() {
  constexpr int kPartial = 2;
  if (const Status able = check_ability(); !able) {
    fmt::print("{}\n", able.error().text);
    return 1;
  }
  const auto tried = self_test();
  if (!tried) {
    fmt::print("{}\n", tried.error().text);
    return 1;
  }
  std::map<std::string, std::string> works;  // signals by mechanism
  std::string line, doubts;
  bool is_partial = false;
  for (const TriedSignal& signal : *tried) {
    std::string& names = works[signal.mechanism];
    if (!signal.mechanism.empty()) names += (names.empty() ? "" : ", ") + signal.name;
    if (!signal.doubt.empty()) doubts += signal.doubt + "\n";
    is_partial = is_partial || signal.is_partial;
  }
  for (const auto& [mechanism, names] : works) {
    if (!names.empty()) line += fmt::format("{}by {}: {}", line.empty() ? "" : "; ", mechanism, names);
  }
  fmt::print("{}\n{}", line, doubts);
  return is_partial ? kPartial : 0;
}

// Closes descriptors that mlrun inherited and passed on. mlrun-probes outlives mlrun, and the reader of an inherited
// pipe would wait for its end. Every supported kernel has close_range.
void close_what_is_not_ours() { (void)::syscall(SYS_close_range, MLRUN_PROBE_SPOOL_FD + 1, ~0U, 0); }

int serve_streams(std::string_view text) {
  Streams streams;
  const auto words = util::split(text, ",");
  Streams::visit(streams, [&](std::string_view name, bool& is_on) {
    is_on = std::find(words.begin(), words.end(), name) != words.end();
  });
  bool has_calls = false;
  constexpr std::string_view kRing = "ring=";
  for (const std::string_view word : words) {
    streams.stacks = streams.stacks || word == "stacks";
    has_calls = has_calls || word == "calls";
    streams.is_command = streams.is_command || word == "command";
    streams.observes =
        streams.observes || word == "command" || word == "observe" || word == "cgroup" || word == "system";
    if (word == "cgroup") streams.scope = MLRUN_SCOPE_CGROUP;
    if (word == "system") streams.scope = MLRUN_SCOPE_SYSTEM;
    if (!word.starts_with(kRing)) continue;
    if (const auto bytes = util::parse_size(word.substr(kRing.size())); bytes && *bytes <= kRingMax) {
      streams.ring_bytes = static_cast<uint32_t>(*bytes);
    }
  }
  streams.has_calls = has_calls;
  // With libmlrun_preload.so in the processes its calls suffice; the fallback would slow all processes of the machine.
  streams.file_calls = streams.observes;
  int type = 0;
  socklen_t bytes = sizeof type;
  const bool has_socket = ::getsockopt(MLRUN_PROBE_SOCKET_FD, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0;
  ucred peer{};
  bytes = sizeof peer;
  const bool has_peer = ::getsockopt(MLRUN_PROBE_SOCKET_FD, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0;
  if (!has_socket || type != SOCK_SEQPACKET || !has_peer || peer.uid != ::getuid()) {
    std::fputs("mlrun-probes: only mlrun can start `serve`, with a socket; use `mlrun --kprobes COMMAND`\n", stderr);
    return 2;
  }
  close_what_is_not_ours();
  ignore_signals();
  return serve(streams);
}

}  // namespace

Result<int> run(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "check" && argc == 2) return check();
  if (verb == "serve" && argc == 3) return serve_streams(argv[2]);
  if ((verb == "--help" || verb == "-h") && argc == 2) {
    fmt::print("{}", kUsage);
    return 0;
  }
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace mlrun::probes

int main(int argc, char** argv) {
  return mlrun::util::run_program([&] { return mlrun::probes::run(argc, argv); });
}
