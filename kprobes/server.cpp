// SPDX-License-Identifier: Apache-2.0
#include "kprobes/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kprobes/ability.h"
#include "kprobes/attach/mount_watch.h"
#include "kprobes/attach/privilege.h"
#include "kprobes/device_facts.h"
#include "kprobes/libraries/library_watch.h"
#include "kprobes/libraries/observed_libraries.h"
#include "kprobes/loss_watch.h"
#include "kprobes/proc/mapping_recorder.h"
#include "kprobes/proc/memory_recorder.h"
#include "kprobes/proc/proc_facts.h"
#include "kprobes/proc/process_snapshots.h"
#include "kprobes/rings/kernel_spool.h"
#include "kprobes/signals.h"
#include "runner/events/probe_protocol.h"
#include "runner/util/clock.h"
#include "runner/util/probe_messages.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {

namespace {

using nlohmann::json;

constexpr int kDrainMs = 5;  // the BPF programs never wake this process (bpf/ring.h)
constexpr uint64_t kSampleNs = 100'000'000;

// Errors are ignored: if mlrun has closed the socket, the next poll() in step() reports it.
void send(mlrun_probe_message_type type, int value, std::string_view text) {
  (void)util::send_probe_message(MLRUN_PROBE_SOCKET_FD, type, value, text);
}

struct Order {
  uint32_t type = 0;
  util::UniqueFd passed;  // a pidfd, or a cgroup's folder
};

// Receives a message of mlrun. nullopt: mlrun has closed its end of the socket.
std::optional<Order> receive() {
  std::array<char, MLRUN_PROBE_HEAD_BYTES> head{};
  iovec into{head.data(), head.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(MLRUN_PROBE_SOCKET_FD, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  Order order;
  if (got >= static_cast<ssize_t>(sizeof order.type)) __builtin_memcpy(&order.type, head.data(), sizeof order.type);
  const cmsghdr* passed = CMSG_FIRSTHDR(&message);
  if (passed != nullptr && passed->cmsg_level == SOL_SOCKET && passed->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    __builtin_memcpy(&fd, CMSG_DATA(passed), sizeof fd);
    order.passed.reset(fd);
  }
  return order;
}

class Server {
 public:
  Server() : spool_(MLRUN_PROBE_SPOOL_FD) {}

  int run(const Streams& streams) {
    for (const Status& able : {check_ability(), check_scope(streams)}) {
      if (!able) return refuse(able.error());
    }
    const uint64_t began_ns = util::monotonic_ns();
    auto probes = Probes::load(streams, [this](const void* record, size_t bytes) { take(record, bytes); });
    if (!probes) return refuse(probes.error());
    probes_ = *std::move(probes);
    if (streams.observes) snapshots_.emplace(spool_, [this] { probes_->drain(); });
    is_command_ = streams.is_command;
    if (streams.any_library()) watch_libraries(streams);
    losses_.emplace(*probes_, spool_, began_ns);
    (void)mounts_.types();  // so that poll() reports only later mounts
    memory_.record(util::monotonic_ns());
    send(MLRUN_PROBE_READY, 0, programs().dump());
    while (!ended_) step();
    probes_->detach();
    probes_->drain();
    while (snapshots_ && snapshots_->read()) {
    }
    const uint64_t end_ns = util::monotonic_ns();
    probes_->for_each_syscall([&](const mlrun_syscall_sum& sum) { spool_.add(&sum, sizeof sum, end_ns); });
    losses_->finish(end_ns);
    memory_.record(end_ns);
    spool_.flush();
    const std::string text = report().dump();
    close_files();
    send(MLRUN_PROBE_REPORT, 0, text);
    probes_->unload();
    return 0;
  }

 private:
  // mlrun does not wait until this process ends. So it closes its files before: a reader of a pipe gets EOF, and the
  // file systems can be unmounted.
  void close_files() {
    mounts_.drop_all();
    const util::UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int fd : std::array<int, 3>{STDOUT_FILENO, STDERR_FILENO, MLRUN_PROBE_SPOOL_FD})
      ::dup2(nothing.get(), fd);
    (void)!::chdir("/");
  }

  static int refuse(const Error& error) {
    send(MLRUN_PROBE_REFUSED, 0, error.text);
    return 1;
  }

  // If mlrun starts a command, the probes are in every process that maps the library: then only the first process makes
  // calls before they are attached. With --pid and --cgroup, probes are only in the requested processes.
  void watch_libraries(const Streams& streams) {
    std::vector<ObservedLibrary> libraries;
    has_cuda_ = streams.cuda;
    has_cufile_ = streams.cufile;
    has_torch_ = streams.torch;
    if (streams.cuda) libraries.push_back(libcuda(probes_->cuda_programs()));
    if (streams.cufile) libraries.push_back(libcufile(probes_->cufile_programs()));
    if (streams.torch) libraries.push_back(torch_allocator(probes_->torch_programs()));
    const bool reaches_all = !streams.observes || streams.is_command || streams.scope == MLRUN_SCOPE_SYSTEM;
    libraries_.emplace(std::move(libraries),
                       reaches_all ? LibraryWatch::Reach::kEverybody : LibraryWatch::Reach::kProcess,
                       [this] { probes_->drain(); });
    if (!streams.stacks) return;
    libraries_->on_mappings(
        [this](uint32_t pid, std::string_view maps, uint64_t read_ns) { mappings_.record(pid, maps, read_ns); });
  }

  // Takes a record from the rings. Task records go to the spool only in runs with snapshots_: in other runs
  // libmlrun_preload.so records processes and threads.
  void take(const void* record, size_t bytes) {
    mlrun_kernel_head head{};
    __builtin_memcpy(&head, record, sizeof head);
    if (snapshots_ || head.kind != MLRUN_KERNEL_TASK) spool_.add(record, bytes, head.time_ns);
    if (snapshots_) snapshots_->take(head, record, bytes);
    mlrun_task task{};
    if (!libraries_ || head.kind != MLRUN_KERNEL_TASK || bytes < sizeof task) return;
    __builtin_memcpy(&task, record, sizeof task);
    libraries_->take(task);
  }

  void step() {
    std::vector<pollfd> watched = {{MLRUN_PROBE_SOCKET_FD, POLLIN, 0}};
    mounts_.add_to(watched, util::monotonic_ns());
    if (::poll(watched.data(), watched.size(), snapshots_wait_ || functions_wait_ ? 0 : kDrainMs) > 0) {
      const auto has_event = [](const pollfd& one) { return one.revents != 0; };  // poll() reports a mount only once
      if (std::any_of(watched.begin() + 1, watched.end(), has_event)) probes_->add_file_systems(mounts_.types());
      if (has_event(watched.front())) obey();
    }
    functions_wait_ = probes_->attach_next(true);
    probes_->drain();
    snapshots_wait_ = snapshots_ && snapshots_->read();
    const uint64_t now_ns = util::monotonic_ns();
    if (libraries_) libraries_->scan(now_ns);
    if (now_ns < next_sample_ns_) return;
    next_sample_ns_ = now_ns + kSampleNs;
    losses_->read(now_ns);
    memory_.sample(now_ns);
    mounts_.drop_ended();
    spool_.flush();
    report_end();
  }

  // Reports the end of the named processes. Drains between two checks: a child that was
  // started before may not be known yet.
  void report_end() {
    if (!snapshots_ || end_reported_ || !snapshots_->all_ended()) return;
    probes_->drain();
    if (!snapshots_->all_ended()) return;
    end_reported_ = true;
    send(MLRUN_PROBE_ENDED, 0, {});
  }

  // Checks the rights twice, as the process may execute another program at any time; the BPF programs check them, too.
  int follow(int pidfd) {
    if (const int error = may_follow(pidfd); error != 0) return error;
    add_mounts_of(pid_of(pidfd));
    int error = probes_->follow(pidfd);
    if (error == 0) error = may_follow(pidfd);
    if (error != 0) probes_->unfollow(pidfd);
    return error;
  }

  void obey() {
    auto order = receive();
    if (!order || order->type == MLRUN_PROBE_STOP) {
      ended_ = true;
    } else if (order->type == MLRUN_PROBE_FOLLOW) {
      const int error = follow(order->passed.get());
      if (error == 0 && snapshots_) {
        if (is_command_)
          snapshots_->await_exec(order->passed.get());
        else
          snapshots_->follow(order->passed.get());
      }
      if (error == 0 && libraries_) libraries_->follow(pid_of(order->passed.get()));
      end_reported_ = false;
      send(MLRUN_PROBE_FOLLOWING, error, {});
    } else if (order->type == MLRUN_PROBE_FOLLOW_CGROUP) {
      const int error = probes_->follow_cgroup(order->passed.get());
      cgroup_ = std::move(order->passed);
      if (error == 0 && libraries_) libraries_->follow_cgroup(cgroup_.get());
      send(MLRUN_PROBE_FOLLOWING, error, {});
    } else if (order->type == MLRUN_PROBE_FOLLOW_SYSTEM) {
      probes_->follow_system();
      if (libraries_) libraries_->follow_system();
      send(MLRUN_PROBE_FOLLOWING, 0, {});
    }
  }

  // Attaches the functions of all file systems in the process's mount namespace. Called before the process is traced.
  void add_mounts_of(uint32_t pid) {
    mounts_.add(pid);
    probes_->add_file_systems(mounts_.types());
    while (probes_->attach_next(false)) probes_->drain();
  }

  [[nodiscard]] json programs() const {
    json list = json::array();
    for (const ProgramState& program : probes_->programs()) {
      if (program.replaced) continue;
      json entry = {{"event", program.event},
                    {"mechanism", program.mechanism.empty() ? json() : json(program.mechanism)}};
      if (!program.reason.empty()) entry["missing"] = program.reason;
      if (!program.why_kprobe.empty()) entry["why_kprobe"] = program.why_kprobe;
      if (program.since_ns != 0) entry.update({{"file_system", program.file_system}, {"since_ns", program.since_ns}});
      list.push_back(std::move(entry));
    }
    return {{"programs", std::move(list)}, {"signals", signals_json(*probes_, mounts_.served())}};
  }

  void add_library(json& report, const char* key, std::string_view library) const {
    json signal = {{"signal", fmt::format("calls of {}", library)}, {"mechanism", nullptr}};
    const std::string missing = libraries_->missing(library);
    if (missing.empty()) signal["mechanism"] = "uprobe";
    if (!missing.empty()) signal["missing"] = missing;
    report["signals"].push_back(std::move(signal));
    report[key] = libraries_->describe(library);
  }

  [[nodiscard]] json report() const {
    json report = programs();
    json totals = json::array(), devices = json::array();
    std::set<uint32_t> listed;
    for (const DeviceTotal& total : probes_->devices()) {
      totals.push_back({{"device", total.key.device},
                        {"op", total.key.op},
                        {"requests", total.total.requests},
                        {"bytes", total.total.bytes},
                        {"device_ns", total.total.device_ns},
                        {"errors", total.total.errors},
                        {"own_requests", total.total.own_requests},
                        {"own_bytes", total.total.own_bytes}});
      if (listed.insert(total.key.device).second) {
        devices.push_back(device_facts(total.key.device, total.total.name));
      }
    }
    if (has_cuda_) add_library(report, "cuda", kLibcuda);
    if (has_cufile_) add_library(report, "cufile", kLibcufile);
    if (has_torch_) add_library(report, "torch", kTorchAllocator);
    report["totals"] = std::move(totals);
    report["devices"] = std::move(devices);
    report["records"] = spool_.records();
    report["lost"] = losses_->lost();
    report["rings"] = {{"count", probes_->rings().count()}, {"bytes_each", probes_->rings().ring_bytes()}};
    report["skipped"] = json::array();
    for (const SkippedProgram& program : probes_->skipped()) {
      report["skipped"].push_back({{"program", program.name}, {"times", program.times}});
    }
    report["unseen_32bit_calls"] = probes_->unrecorded_32bit_calls();
    report["unobserved_at_exec"] = probes_->unobserved_at_exec();
    report["spool"] = {{"bytes", spool_.bytes()}, {"left_out", spool_.left_out()}, {"error", spool_.error()}};
    return report;
  }

  MountWatch mounts_;  // constructed before probes_ reads the mounted file systems: no mount in between is missed
  KernelSpool spool_;
  MappingRecorder mappings_{spool_};
  MemoryRecorder memory_{spool_};
  std::unique_ptr<Probes> probes_;
  std::optional<LibraryWatch> libraries_;
  std::optional<LossWatch> losses_;
  std::optional<ProcessSnapshots> snapshots_;  // only in runs without libmlrun_preload.so in the processes
  util::UniqueFd cgroup_;
  uint64_t next_sample_ns_ = 0;
  bool is_command_ = false;
  bool has_cuda_ = false, has_cufile_ = false, has_torch_ = false;
  bool ended_ = false, end_reported_ = false, snapshots_wait_ = false, functions_wait_ = false;
};

}  // namespace

int serve(const Streams& streams) { return Server().run(streams); }

}  // namespace mlrun::probes
