// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/execute/supervised.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>
#include <utility>

#include "runner/launch/placement.h"
#include "runner/session/installation.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"

namespace mlrun::sweep {

namespace {

constexpr int kControl = 3, kLock = 4;  // descriptors of the supervisor

struct StandardFiles {
  util::UniqueFd input, output, errors;
};

Result<util::UniqueFd> open_file(const std::string& path, int flags) {
  util::UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail_errno("open " + path, errno);
  // Moved above the descriptor numbers that spawn() assigns in the child.
  const int high = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLock + 1);
  if (high < 0) return fail_errno("open " + path, errno);
  return util::UniqueFd(high);
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!added.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

// Spawns from a temporary thread that has the placement: a child inherits it from the thread that starts it, and this process keeps its
// own.
Result<pid_t> spawn_placed(const launch::Placement& placement, const std::function<Result<pid_t>()>& spawn) {
  if (!placement.any()) return spawn();
  Result<pid_t> result = fail("");
  std::thread([&] {
    const int error = placement.apply();
    result = error == 0 ? spawn() : fail_errno("place a run on its CPUs and nodes", error);
  }).join();
  return result;
}

Result<pid_t> spawn(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                    const StandardFiles& files, int control, int lock) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  const std::pair<int, int> moves[] = {
      {files.input.get(), 0}, {files.output.get(), 1}, {files.errors.get(), 2}, {control, kControl}, {lock, kLock}};
  for (const auto& [from, to] : moves) ::posix_spawn_file_actions_adddup2(&actions, from, to);
  const sigset_t mask = mask_of_children();
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, words[0].c_str(), &actions, &attributes, util::exec_pointers(words).data(),
                                  util::exec_pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail_errno("start " + words[0], error);
  return pid;
}

Result<StandardFiles> open_files(const SuperviseOptions& options) {
  StandardFiles files;
  auto input = open_file(options.input, O_RDONLY);
  if (!input) return tl::make_unexpected(input.error());
  auto output = open_file(options.output, O_WRONLY | O_CREAT | O_TRUNC);
  if (!output) return tl::make_unexpected(output.error());
  auto errors = options.errors == options.output
                    ? Result<util::UniqueFd>(util::UniqueFd(::fcntl(output->get(), F_DUPFD_CLOEXEC, kLock + 1)))
                    : open_file(options.errors, O_WRONLY | O_CREAT | O_TRUNC);
  if (!errors) return tl::make_unexpected(errors.error());
  return StandardFiles{*std::move(input), *std::move(output), *std::move(errors)};
}

}  // namespace

Result<Supervised> Supervised::start(const SuperviseOptions& options) {
  auto files = open_files(options);
  if (!files) return tl::make_unexpected(files.error());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("make a socket", errno);
  util::UniqueFd ours(ends[0]);
  const util::UniqueFd theirs_low(ends[1]);
  const util::UniqueFd theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kLock + 1));
  const util::UniqueFd lock(::fcntl(options.lock_fd, F_DUPFD_CLOEXEC, kLock + 1));
  if (!theirs.valid() || !lock.valid()) return fail_errno("duplicate a descriptor", errno);
  std::vector<std::string> words = {session::find_installation().supervisor_program, std::to_string(kControl),
                                    std::to_string(kLock)};
  words.insert(words.end(), options.command.begin(), options.command.end());
  const auto placement = launch::find_placement({options.cpus, options.cpu_node, options.mem_node, {}, {}, {}});
  if (!placement) return tl::make_unexpected(placement.error());
  const auto environment = environment_with(options.environment);
  const auto pid =
      spawn_placed(*placement, [&] { return spawn(words, environment, *files, theirs.get(), lock.get()); });
  if (!pid) return tl::make_unexpected(pid.error());
  Supervised started(*pid, std::move(ours));
  const auto stat = util::read_proc_stat(static_cast<uint32_t>(*pid));
  started.processes_.supervisor = {*pid, stat ? stat->start_ticks : 0, util::boot_id()};
  const auto ready = started.next(-1, nullptr);
  if (!ready || ready->stage != Stage::kReady) return fail("the supervisor could not start; see " + options.errors);
  started.processes_.process = {ready->pid, ready->start_ticks, util::boot_id()};
  return started;
}

Supervised::Supervised(Supervised&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      control_(std::move(other.control_)),
      processes_(std::move(other.processes_)) {}

Supervised::~Supervised() {
  control_.reset();  // the supervisor then ends the run and itself
  while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Supervised::demand(Demand demand) const { ::send(control_.get(), &demand, sizeof demand, MSG_NOSIGNAL); }

std::optional<Report> Supervised::next(int timeout_ms, const StopSignals* signals) const {
  pollfd files[] = {{control_.get(), POLLIN, 0}, {signals != nullptr ? signals->fd() : -1, POLLIN, 0}};
  int ready = 0;
  do {
    ready = ::poll(files, 2, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  if (files[0].revents == 0) return {};
  Report report;
  const ssize_t got = ::recv(control_.get(), &report, sizeof report, 0);
  if (got != sizeof report) {
    report = {};
    report.stage = Stage::kGone;
  }
  return report;
}

}  // namespace mlrun::sweep
