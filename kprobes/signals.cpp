// SPDX-License-Identifier: Apache-2.0
#include "kprobes/signals.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kprobes/attach/file_functions.h"
#include "kprobes/attach/open_paths.h"
#include "runner/events/unseen.h"
#include "runner/util/units.h"

namespace mlrun::probes {

namespace {

constexpr const char* kNotInCalls = MLRUN_NO_FILE_CALLS " (tracepoint: no recorded system call covers these)";

constexpr const char* kOpenedLate =
    "opens are recorded at security_file_open, a part of the open: their rows have the time of that part, and an open "
    "that finds no file has no row";

constexpr const char* kNeitherCalls =
    "; there are no calls either, so only device I/O and the waits for it are recorded: start the command with both "
    "--preload and --kprobes";

struct Part {
  std::string_view signal;
  std::vector<std::string_view> events;  // if the first event is missing, so is the whole signal
};

const std::array<Part, 6>& parts() {
  static const std::array<Part, 6> kAll = {{
      {"processes", {"sched_process_fork"}},
      {"block I/O",
       {"block_bio_queue", "block_rq_issue", "block_rq_complete", "block_split", "block_bio_remap",
        "block_bio_complete", "block_rq_insert", "block_rq_requeue", "block_rq_merge"}},
      {"write-back", {"writeback_dirty_folio", "writeback_dirty_page"}},
      {"page cache", {"mm_filemap_add_to_page_cache"}},
      {"waits",
       {"sched_switch", "sched_waking", "sched_process_free", "block_getrq", "block_bio_backmerge",
        "block_bio_frontmerge", "balance_dirty_pages"}},
      {"system calls", {"sys_enter", "sys_exit", "sched_process_exec"}},
  }};
  return kAll;
}

// True: the signal was requested. Its first event decides: other signals may have the other events, too.
bool is_wanted(const Part& part, const std::vector<ProgramState>& programs) {
  return std::any_of(programs.begin(), programs.end(), [&](const ProgramState& program) {
    return program.event == part.events.front() && !program.is_of_file_calls;
  });
}

Signal signal_of(const Part& part, const std::vector<ProgramState>& programs) {
  Signal signal{std::string(part.signal), "tracepoint", {}};
  for (const ProgramState& program : programs) {
    if (program.replaced || program.reason.empty() || program.is_of_file_calls) continue;
    if (std::find(part.events.begin(), part.events.end(), program.event) == part.events.end()) continue;
    if (program.event == part.events.front()) signal.mechanism.clear();
    if (program.reason == kNotAskedFor) return {signal.name, {}, std::string(kNotAskedFor)};
    signal.missing += (signal.missing.empty() ? "" : ", ") + program.event + ": " + program.reason;
  }
  return signal;
}

// Protocols of remote file systems whose requests the kernel reports by tracepoints.
struct Protocol {
  const char* name;
  std::string_view event, file_systems;
};
constexpr std::array<Protocol, 3> kProtocols = {Protocol{"9p", "9p_client_req", " 9p "},
                                                Protocol{"NFS", "rpc_task_begin", " nfs nfs4 "},
                                                Protocol{"FUSE", "fuse_request_send", " fuse fuseblk virtiofs "}};

bool has_request_probes(const std::string& type) {
  return std::any_of(kProtocols.begin(), kProtocols.end(), [&](const Protocol& protocol) {
    return protocol.file_systems.find(" " + type + " ") != std::string_view::npos;
  });
}

Signal file_calls(const FileSyscalls& calls, const std::string& why_no_function) {
  Signal signal{"file operations", "tracepoint", kNotInCalls};
  for (const std::string& op : calls.unseen())
    signal.missing = op + " (a test of it recorded nothing), " + signal.missing;
  signal.note = fmt::format("recorded by system calls; times are those of the calls ({})", why_no_function);
  return signal;
}

// An operation counts as recorded when one of its kernel functions is probed. The report does not say which.
Signal file_operations(const Probes& probes) {
  Signal signal{"file operations", {}, {}};
  std::array<bool, MLRUN_FILE_PURPOSES> has{};
  std::array<std::string, MLRUN_FILE_PURPOSES> reasons;
  std::set<std::string> mechanisms;
  std::map<std::string, int> by_kprobe;  // number of functions, by the reason for kprobe
  for (const ProgramState& program : probes.programs()) {
    if (program.file_op < 0) continue;
    const auto op = static_cast<size_t>(program.file_op);
    has.at(op) = has.at(op) || program.reason.empty();
    if (program.reason.empty()) mechanisms.insert(program.mechanism);
    if (program.reason.empty() && !program.why_kprobe.empty()) ++by_kprobe[program.why_kprobe];
    if (program.reason.empty() && program.event == kOpenFallback) signal.note = kOpenedLate;
    if (!program.reason.empty()) reasons.at(op) = program.reason;
  }
  for (const std::string& mechanism : mechanisms)
    signal.mechanism += (signal.mechanism.empty() ? "" : " and ") + mechanism;
  if (signal.mechanism.empty()) {
    signal.missing = probes.without_file_ops().empty() ? reasons.at(MLRUN_FILE_OPEN) : probes.without_file_ops();
    if (probes.file_calls().works()) return file_calls(probes.file_calls(), signal.missing);
    if (!probes.file_calls().reason().empty()) signal.missing += ", " + probes.file_calls().reason();
    signal.missing += probes.has_calls() ? "; their processor time is in the calls' own_ns" : kNeitherCalls;
    return signal;
  }
  for (const auto& [reason, functions] : by_kprobe) {
    signal.note += fmt::format("{}{} by kprobe ({})", signal.note.empty() ? "" : "; ",
                               util::counted(functions, "function"), reason);
  }
  if (!by_kprobe.empty())
    signal.note += "; a kprobe records only a limited number of simultaneous calls of its function";
  std::map<std::string, std::string> missing;  // operations by reason
  for (uint32_t op = 0; op < has.size(); op++) {
    const bool few_have_it = op == MLRUN_FILE_CLONE && reasons.at(op).empty();  // clone: no mounted file system has it
    if (has.at(op) || few_have_it) continue;
    std::string& names = missing[reasons.at(op).empty() ? "this kernel has no such function" : reasons.at(op)];
    names += (names.empty() ? "" : ", ") + std::string(file_op_name(op));
  }
  for (const auto& [reason, names] : missing) {
    signal.missing += fmt::format("{}{} ({})", signal.missing.empty() ? "" : ", ", names, reason);
  }
  return signal;
}

// Adds a signal for each served file system type without a probed function. If no file operation at all is recorded,
// only for types with a server: only there the missing function changes what sleep counts as.
void add_unseen_types(const Probes& probes, const FileSystemTypes& served, std::vector<Signal>& signals) {
  const auto is_attached = [&](std::string_view name) {
    return std::any_of(probes.programs().begin(), probes.programs().end(), [&](const ProgramState& program) {
      return program.file_op >= 0 && program.event == name && program.reason.empty();
    });
  };
  const bool has_operations =
      std::any_of(probes.programs().begin(), probes.programs().end(),
                  [](const ProgramState& program) { return program.file_op >= 0 && program.reason.empty(); });
  for (const std::string& type : served) {
    const bool has_probes = has_request_probes(type), is_elsewhere = is_served_elsewhere(type) && !has_probes;
    if (has_function_of(type, is_attached) || !(has_operations || is_elsewhere)) continue;
    signals.push_back(
        {fmt::format("operations on files of {}", type),
         {},
         is_elsewhere ? "mlrun knows no function of this file system to probe; sleep for its server is in wait_ns"
                      : "no function of this file system is probed; their processor time is in the calls' own_ns"});
  }
}

// The signal of runs without libmlrun_preload.so in the processes; nullopt in other runs.
std::optional<Signal> paths_at_open(const Probes& probes) {
  for (const ProgramState& program : probes.programs()) {
    if (program.event != kOpenFunction || program.file_op >= 0) continue;
    Signal signal{"paths of files as they are opened", program.mechanism, program.reason};
    if (!signal.missing.empty()) signal.missing += "; a file that is closed soon after its open has no path";
    return signal;
  }
  return std::nullopt;
}

// Considers only protocols of mounted file systems. The events are in kernel modules, which may be missing for the
// others.
std::optional<Signal> remote_requests(const Probes& probes) {
  Signal signal{"remote requests", {}, {}};
  for (const ProgramState& program : probes.programs()) {
    const auto* protocol = std::find_if(kProtocols.begin(), kProtocols.end(),
                                        [&](const Protocol& candidate) { return candidate.event == program.event; });
    if (protocol == kProtocols.end() || !is_mounted(protocol->file_systems)) continue;
    if (program.reason.empty()) signal.mechanism = program.mechanism;
    if (program.reason.empty()) continue;
    signal.missing += fmt::format("{}{}: {}", signal.missing.empty() ? "" : ", ", protocol->name, program.reason);
  }
  if (signal.mechanism.empty() && signal.missing.empty()) return std::nullopt;
  if (!signal.missing.empty()) signal.missing += "; sleep for these servers is in wait_ns";
  return signal;
}

}  // namespace

std::vector<Signal> signals_of(const Probes& probes, const FileSystemTypes& served) {
  std::vector<Signal> signals;
  for (const Part& part : parts()) {
    if (is_wanted(part, probes.programs())) signals.push_back(signal_of(part, probes.programs()));
  }
  signals.push_back(file_operations(probes));
  add_unseen_types(probes, served, signals);
  if (auto paths = paths_at_open(probes)) signals.push_back(*std::move(paths));
  if (auto remote = remote_requests(probes)) signals.push_back(*std::move(remote));
  return signals;
}

nlohmann::json signals_json(const Probes& probes, const FileSystemTypes& served) {
  nlohmann::json list = nlohmann::json::array();
  for (const Signal& signal : signals_of(probes, served)) {
    nlohmann::json entry = {{"signal", signal.name}, {"mechanism", nullptr}};
    if (!signal.mechanism.empty()) entry["mechanism"] = signal.mechanism;
    if (!signal.missing.empty()) entry["missing"] = signal.missing;
    if (!signal.note.empty()) entry["note"] = signal.note;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace mlrun::probes
