// SPDX-License-Identifier: Apache-2.0
#include "runner/launch/kernel_side.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/launch/file_rights.h"
#include "runner/launch/signal_relay.h"
#include "runner/util/json_at.h"

namespace mlrun::launch {

namespace {

constexpr int kAnswerMs = 60'000;  // loading takes 0.4 s, in an emulated machine a few seconds
constexpr int kFirstFreeFd = 10;   // above those passed to the program
constexpr mode_t kFileMode = 0600;

// Moves the descriptor to a number that the child's descriptors do not use.
Result<util::UniqueFd> moved_up(util::UniqueFd fd) {
  util::UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
  if (!moved.valid()) return fail_errno("duplicate a descriptor", errno);
  return moved;
}

Result<pid_t> spawn(const std::string& program, const std::string& streams, int socket, int spool) {
  // In a session of its own no signal of the job reaches it; mlrun decides when it ends.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  const sigset_t mask = SignalRelay::mask_for_children();
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, socket, MLRUN_PROBE_SOCKET_FD);
  ::posix_spawn_file_actions_adddup2(&actions, spool, MLRUN_PROBE_SPOOL_FD);
  std::array<std::string, 3> words = {program, "serve", streams};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  const std::string reason = error == EPERM ? rights_beyond_bounds(program) : std::string();
  if (!reason.empty()) return fail(reason);
  if (error != 0) return fail_errno("start " + program, error);
  return pid;
}

bool send(int socket, mlrun_probe_message_type type, int passed_fd) {
  std::array<__u32, MLRUN_PROBE_HEAD_BYTES / sizeof(__u32)> head = {type, 0};
  iovec from{head.data(), sizeof head};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &from;
  message.msg_iovlen = 1;
  if (passed_fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* pass = CMSG_FIRSTHDR(&message);
    pass->cmsg_level = SOL_SOCKET;
    pass->cmsg_type = SCM_RIGHTS;
    pass->cmsg_len = CMSG_LEN(sizeof(int));
    __builtin_memcpy(CMSG_DATA(pass), &passed_fd, sizeof passed_fd);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) > 0;
}

// The JSON of READY or REPORT.
nlohmann::json as_object(const std::string& text) {
  nlohmann::json parsed = util::parse_json(text);
  return parsed.is_object() ? parsed : nlohmann::json::object();
}

// The first required signal without a working mechanism, and why; empty: all work.
std::string missing_of(const std::vector<std::string_view>& required, const nlohmann::json& begun) {
  for (const nlohmann::json& signal : util::list_at(begun, "/signals")) {
    const std::string name = util::text_at(signal, "/signal");
    const bool is_required = std::find(required.begin(), required.end(), name) != required.end();
    if (!is_required || util::json_at(signal, "/mechanism").is_string()) continue;
    const std::string why = util::text_at(signal, "/missing");
    return fmt::format("{}: {}", name, why.empty() ? "this kernel does not report them" : why);
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<KernelSide>> KernelSide::start(const std::string& program, const std::string& trace_folder,
                                                      const std::string& streams,
                                                      const std::vector<std::string_view>& required) {
  if (::access(program.c_str(), X_OK) != 0) return fail(program + " is missing; install or build mlrun again");
  const std::string path = trace_folder + "/" + MLRUN_KERNEL_FILE;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("make a socket", errno);
  util::UniqueFd ours(ends[0]);
  auto theirs = moved_up(util::UniqueFd(ends[1]));
  if (!theirs) return tl::make_unexpected(theirs.error());
  util::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!file.valid()) return fail_errno("create " + path, errno);
  const auto spool = moved_up(std::move(file));
  const auto pid =
      spool ? spawn(program, streams, theirs->get(), spool->get()) : Result<pid_t>(tl::make_unexpected(spool.error()));
  std::unique_ptr<KernelSide> side;
  std::string text = pid ? std::string() : pid.error().text;
  if (pid) {
    side.reset(new KernelSide(std::move(ours), *pid));
    theirs->reset();  // else its end would not close the socket
    const bool waits = side->wait_for_start();
    const auto answer = waits ? side->receive() : Result<util::ProbeMessage>(fail("mlrun was stopped"));
    if (answer && answer->type == MLRUN_PROBE_READY) {
      side->begun_ = as_object(answer->text);
      side->begun_["state"] = "unfinished";
      side->begun_["reason"] = "mlrun died before the kernel side reported its losses and the names of devices";
      text = missing_of(required, side->begun_);
      if (text.empty()) return side;
    } else {
      text = answer ? answer->text : answer.error().text;
    }
  }
  ::unlink(path.c_str());
  return fail(text);
}

KernelSide::~KernelSide() { reap(); }

void KernelSide::reap() {
  socket_.reset();
  if (pid_ <= 0) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

bool KernelSide::wait_for_start() {
  constexpr int kPollMs = 20;
  pollfd ready{socket_.get(), POLLIN, 0};
  for (int waited_ms = 0; waited_ms < kAnswerMs && ::poll(&ready, 1, kPollMs) == 0; waited_ms += kPollMs) {
    if (!SignalRelay::asked_to_stop()) continue;
    ::kill(pid_, SIGKILL);
    return false;
  }
  return true;
}

Result<util::ProbeMessage> KernelSide::receive() {
  auto message = util::receive_probe_message(socket_.get(), kAnswerMs);
  while (message && message->type == MLRUN_PROBE_ENDED) {
    message = util::receive_probe_message(socket_.get(), kAnswerMs);
  }
  return message;
}

Status KernelSide::observe(pid_t pid) {
  const util::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return fail_errno("observe the command", errno);
  return ask(MLRUN_PROBE_FOLLOW, pidfd.get(), "observe the command");
}

Status KernelSide::observe_process(int pidfd) { return ask(MLRUN_PROBE_FOLLOW, pidfd, "observe the process"); }
Status KernelSide::observe_cgroup(int folder) { return ask(MLRUN_PROBE_FOLLOW_CGROUP, folder, "observe the cgroup"); }
Status KernelSide::observe_system() { return ask(MLRUN_PROBE_FOLLOW_SYSTEM, -1, "observe the system"); }

Status KernelSide::ask(mlrun_probe_message_type type, int passed_fd, const char* what) {
  if (!send(socket_.get(), type, passed_fd)) return fail("mlrun-probes ended before its time");
  const auto answer = receive();
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->value != 0) return fail_errno(what, answer->value);
  return {};
}

bool KernelSide::has_ended() {
  pollfd ready{socket_.get(), POLLIN, 0};
  ended_ = ended_ || ::poll(&ready, 1, 0) > 0;  // the only unsolicited message is ENDED
  return ended_;
}

nlohmann::json KernelSide::broken(const std::string& reason) const {
  nlohmann::json said = begun_;
  said["state"] = "broken";
  said["reason"] = reason;
  return said;
}

nlohmann::json KernelSide::finish() {
  if (!send(socket_.get(), MLRUN_PROBE_STOP, -1)) return broken("mlrun-probes ended before its time");
  const auto answer = receive();
  if (!answer) return broken(answer.error().text);
  pid_ = 0;  // it has closed our files and exits by itself
  nlohmann::json report = as_object(answer->text);
  if (report.empty()) return broken("mlrun-probes gave no report");
  report["state"] = "recorded";
  return report;
}

}  // namespace mlrun::launch
