// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/doctor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/collect/arena_place.h"
#include "runner/commands/doctor_fix.h"
#include "runner/commands/gpu_side.h"
#include "runner/events/session.h"
#include "runner/launch/environment.h"
#include "runner/launch/file_rights.h"
#include "runner/launch/program_file.h"
#include "runner/placement/kernel_check.h"
#include "runner/placement/kinds.h"
#include "runner/placement/memkind.h"
#include "runner/samplers/access/ladder.h"
#include "runner/samplers/gpu/nvml.h"
#include "runner/samplers/machine/machine_sampler.h"
#include "runner/session/installation.h"
#include "runner/util/access_rungs.h"
#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/id_list.h"
#include "runner/util/memory_kinds.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"
#include "runner/util/unique_fd.h"
#include "runner/util/wrap.h"

namespace mlrun::commands {

namespace {

enum class Verdict {
  kGood,
  kPartly,  // works in part
  kLess,    // a fallback works, or mlrun works without it
  kBad,     // nothing can be recorded
  kAbsent
};

struct Finding {
  Verdict verdict;
  std::string text;
};

Finding check_clock() {
  const util::ClockChoice choice = util::choose_clock();
  if (choice.kind == MLRUN_CLOCK_TSC) return {Verdict::kGood, "time stamp counter"};
  return {Verdict::kLess, "CLOCK_MONOTONIC, about 11 ns more an event: " + choice.reason};
}

Finding check_shared_memory() {
  struct statvfs status {};
  if (::statvfs(collect::kSharedMemoryFolder, &status) != 0)
    return {Verdict::kLess, "not there; the buffer goes to the trace folder"};
  const uint64_t free = uint64_t{status.f_bavail} * status.f_frsize;
  const std::string text = util::size_text(free) + " free";
  if (free >= uint64_t{1} << 30) return {Verdict::kGood, text};
  return {Verdict::kLess, text + "; below 1 GiB the buffer goes to the trace folder"};
}

Finding check_direct_io() {
  char name[] = "./.mlrun-doctor-XXXXXX";
  const util::UniqueFd fd(::mkostemp(name, O_CLOEXEC));
  if (!fd.valid()) return {Verdict::kBad, "this folder cannot be written to; name another one with -o"};
  ::unlink(name);
  void* page = std::aligned_alloc(4096, 4096);
  const bool works = ::fcntl(fd.get(), F_SETFL, O_DIRECT) == 0 && ::pwrite(fd.get(), page, 4096, 0) == 4096;
  std::free(page);
  if (works) return {Verdict::kGood, "O_DIRECT works in this folder"};
  return {Verdict::kLess, "no O_DIRECT in this folder: the spool goes through the page cache"};
}

Finding check_library() {
  const std::string path = session::find_installation().preload_library;
  if (const Status usable = session::check_preload_library(path); !usable) return {Verdict::kBad, usable.error().text};
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {Verdict::kBad, fmt::format("{} cannot be loaded: {}", path, ::dlerror())};
  return {Verdict::kGood, path};
}

// Which program PATH gives for mlrun. PyPI's project of that name has a command too: a script that imports its mlrun.__main__.
Finding check_command() {
  const std::string path = launch::find_program("mlrun"), own = session::find_installation().mlrun_program;
  if (path.empty()) return {Verdict::kAbsent, "no mlrun in PATH; this is " + own};
  std::error_code ignored;
  if (std::filesystem::equivalent(path, own, ignored)) return {Verdict::kGood, path};
  const bool is_other_project = util::read_text(path, 4096).find("mlrun.__main__") != std::string::npos;
  return {Verdict::kLess,
          fmt::format("the mlrun in PATH is not this one: {} ({}); call {} instead", path,
                      is_other_project ? "another project, PyPI's mlrun" : "another installation", own)};
}

Finding check_trace_program() {
  const std::string path = session::find_installation().trace_program;
  if (::access(path.c_str(), X_OK) == 0) return {Verdict::kGood, path};
  return {Verdict::kBad, path + " is missing: traces can be recorded, not made; build or install mlrun again"};
}

Finding check_proc() {
  const auto self = static_cast<uint32_t>(::getpid());
  const bool visible = util::read_proc_stat(self) && !util::read_modules(self).empty();
  if (!visible) return {Verdict::kPartly, "/proc cannot be read: no thread names, no libraries behind allocations"};
  if (util::read_io(self).empty())
    return {Verdict::kPartly, "/proc/PID/io cannot be read: no comparison with the kernel's counts"};
  return {Verdict::kGood, "/proc shows our own processes"};
}

Finding check_python() { return {Verdict::kGood, "none needed to record or to read a trace"}; }

// Tries to read a child's memory, as the sampler reads that of the command's processes.
Finding check_python_stacks() {
  static const uint64_t kKnown = 0x6d6c72756e;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {Verdict::kLess, "no pipe can be made to try it"};
  const util::UniqueFd read_end(ends[0]);
  util::UniqueFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    char byte = 0;
    _exit(static_cast<int>(::read(ends[0], &byte, 1)));  // until the parent has closed its end
  }
  if (child < 0) return {Verdict::kLess, "no process can be started to try it"};
  uint64_t got = 0;
  const iovec here{&got, sizeof got}, there{const_cast<uint64_t*>(&kKnown), sizeof kKnown};
  const bool works = ::process_vm_readv(child, &here, 1, &there, 1, 0) == sizeof got && got == kKnown;
  const int error = errno;
  write_end.reset();
  ::waitpid(child, nullptr, 0);
  if (works) return {Verdict::kGood, "the command's memory can be read: lines of CPython 3.11 to 3.15"};
  return {Verdict::kLess, fmt::format("the memory of a child cannot be read ({}): no lines of Python. Yama's "
                                      "ptrace_scope may be above 1, or a container forbids process_vm_readv",
                                      std::strerror(error))};
}

// mlrun-probes loads and attaches all its programs and reports the result: all working signals on one line, each other signal on its own.
Finding check_kernel_side() {
  constexpr int kPartial = 2;
  const std::string program = session::find_installation().probes_program;
  if (::access(program.c_str(), X_OK) != 0)
    return {Verdict::kLess, program + " is missing; install or build mlrun again"};
  if (const std::string reason = launch::rights_beyond_bounds(program); !reason.empty())
    return {Verdict::kLess, reason};
  FILE* output = ::popen(fmt::format("'{}' check", program).c_str(), "re");
  if (output == nullptr) return {Verdict::kLess, "mlrun-probes cannot be started"};
  std::string text;
  std::array<char, 4096> piece{};
  while (const size_t got = std::fread(piece.data(), 1, piece.size(), output)) text.append(piece.data(), got);
  const int status = ::pclose(output);
  text.resize(text.find_last_not_of('\n') + 1);
  if (text.empty()) text = "mlrun-probes did not answer";
  const bool is_partial = WIFEXITED(status) && WEXITSTATUS(status) == kPartial;
  return {status == 0 ? Verdict::kGood : is_partial ? Verdict::kPartly : Verdict::kLess, text};
}

// A program may bring its own CUPTI, so a missing one is no error.
Finding check_gpu_work() {
  const std::string library = session::find_installation().cupti_library;
  if (const Status usable = session::check_preload_library(library); !usable)
    return {Verdict::kLess, usable.error().text};
  if (!has_gpu_driver()) return {Verdict::kAbsent, "no driver of NVIDIA here: --cupti has nothing to record"};
  if (const std::string other = launch::other_cuda_injection(environ); !other.empty())
    return {Verdict::kLess, fmt::format("{} names {}: unset it for --cupti", MLRUN_CUDA_INJECTION, other)};
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return {Verdict::kGood, fmt::format("{} and --cupti", name)};
  }
  return {Verdict::kGood, "--cupti, with the libcupti that a program brings; there is none on the search path"};
}

Finding check_gpu_samples() {
  const auto nvml = gpu::Nvml::open();
  if (!nvml) return {Verdict::kAbsent, nvml.error().text};
  const size_t gpus = (*nvml)->devices().size();
  if (gpus == 0) return {Verdict::kAbsent, "the NVIDIA driver knows no GPU"};
  return {Verdict::kGood, fmt::format("{} by NVML, driver {}", gpus, (*nvml)->driver_version())};
}

// Which counters of --sample=cpu,disk,net,memory,process cannot be read here, and how the bandwidth of memory is read.
Finding check_counters() {
  const machine::MachineState state = machine::check_sources(machine::known_sources(), {});
  const bool all = state.not_sampled.empty();
  std::string text = all ? "cpu, disk, net, memory and process of --sample" : "";
  for (const auto* lines : {&state.not_sampled, &state.remarks}) {
    for (const auto& [word, line] : *lines) text += (text.empty() ? "" : "\n") + line;
  }
  return {all ? Verdict::kGood : Verdict::kPartly, text};
}

std::string usable_rung_text(const access::TriedRung& rung) {
  std::vector<std::string> parts = {"costs: " + rung.cost, "blind to: " + access::rung_is_blind_to(rung.rung)};
  if (!rung.remark.empty()) parts.insert(parts.begin(), rung.remark);
  return fmt::format("{}", fmt::join(parts, "; "));
}

// Each rung of --access: its calibrated cost and what it cannot see, or why it does not work here.
Finding check_access() {
  std::string text;
  bool works = false;
  for (const access::TriedRung& rung : access::try_all_rungs()) {
    const bool is_usable = rung.problem.empty();
    works = works || is_usable;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", util::access_rung_name(rung.rung),
                        is_usable ? usable_rung_text(rung) : rung.problem);
  }
  return {works ? Verdict::kPartly : Verdict::kLess, text};
}

// The nodes with memory, for --place and --mem-kind.
Finding check_memory() {
  const util::IdList all = util::read_id_list("/sys/devices/system/node/has_memory");
  if (all.empty()) {
    const bool is_hidden = ::access("/sys/devices/system/cpu", F_OK) != 0;
    return {Verdict::kAbsent, is_hidden ? "/sys is hidden, as some containers do: its NUMA nodes are unknown"
                                        : "this kernel has no NUMA nodes"};
  }
  const util::IdList allowed = placement::allowed_nodes();
  std::string text = "with memory: node " + util::id_list_text(all);
  if (allowed != all) text += "; the cpuset allows node " + util::id_list_text(allowed);
  std::vector<std::string> problems = placement::refused_by_kernel(allowed.empty() ? all.front() : allowed.front());
  const std::string library = session::find_installation().placement_library;
  if (const Status usable = session::check_preload_library(library); !usable)
    problems.push_back("no --place: " + usable.error().text);
  text += problems.empty() ? "; binding memory and asking where a page is work"
                           : "\n" + fmt::format("{}", fmt::join(problems, "\n"));
  for (const char* const kind : util::kMemoryKinds) {
    const auto nodes = placement::nodes_of_kind(kind);
    text += nodes ? fmt::format("\n{}: node {}", kind, util::id_list_text(*nodes)) : "\n" + nodes.error().text;
  }
  if (const Status memkind = placement::check_memkind(); !memkind) text += "\nno heap memkind: " + memkind.error().text;
  const bool weighted = ::access("/sys/kernel/mm/mempolicy/weighted_interleave", F_OK) == 0;
  text += weighted ? "" : "\nno --weighted-interleave: Linux 6.9 has it";
  return {problems.empty() ? Verdict::kGood : Verdict::kPartly, text};
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood: return "ok";
    case Verdict::kPartly: return "partly";
    case Verdict::kLess: return "less";
    case Verdict::kBad: return "no";
    case Verdict::kAbsent: return "-";
  }
  return "";
}

struct Check {
  const char* what;
  Finding (*look)();
};
constexpr Check kChecks[] = {
    {"clock of events", check_clock},
    {"shared memory", check_shared_memory},
    {"spool", check_direct_io},
    {"command", check_command},
    {"library", check_library},
    {"merger", check_trace_program},
    {"processes", check_proc},
    {"Python", check_python},
    {"Python stacks", check_python_stacks},
    {"kernel side", check_kernel_side},
    {"GPU work", check_gpu_work},
    {"GPU samples", check_gpu_samples},
    {"counters", check_counters},
    {"accesses", check_access},
    {"memory", check_memory},
};

constexpr size_t kPiped = 80, kNarrowest = 40;
constexpr const char* kLegend =
    "partly: works in part; less: a fallback works, or mlrun works without it; no: nothing can be recorded; -: not "
    "present.";

}  // namespace

Result<int> doctor(const Arguments& arguments) {
  const auto parsed = parse_doctor(arguments);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (!*parsed) return 0;
  if ((*parsed)->fix) return fix((*parsed)->yes);
  const size_t width = std::max(util::terminal_width(STDOUT_FILENO, kPiped), kNarrowest);
  bool usable = true, all_good = true;
  for (const Check& check : kChecks) {
    const Finding finding = check.look();
    usable = usable && finding.verdict != Verdict::kBad;
    all_good = all_good && (finding.verdict == Verdict::kGood || finding.verdict == Verdict::kAbsent);
    const std::string lead = fmt::format("{:<6} {:<16} ", verdict_text(finding.verdict), check.what);
    fmt::print("{}", util::wrapped(finding.text, width, lead));
  }
  if (!all_good) fmt::print("\n{}", util::wrapped(kLegend, width));
  return usable ? 0 : 1;
}

}  // namespace mlrun::commands
