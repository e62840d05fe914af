// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/exchange/each_row.h"
#include "runner/exchange/export.h"
#include "runner/exchange/mlperf/text_files.h"
#include "runner/exchange/output_file.h"
#include "runner/util/json_at.h"
#include "runner/util/time_units.h"

namespace mlrun::exchange {

namespace {

struct PsProcess {
  int64_t pid, ppid, uid, first;
  std::string role, command;
};

// pids.out as `ps -efT` prints it; pids.json, the role of each process by pid.
Status write_pids(Export& job) {
  std::unordered_map<int64_t, PsProcess> processes;
  auto read =
      each_row(job, "process", {"proc_id", "pid", "ppid", "uid", "first", "role", "command"}, [&](const Row& row) {
        processes[row.number(0)] = {
            row.number(1),           row.number(2), row.number(3), row.number(4), std::string(row.text(5)),
            std::string(row.text(6))};
      });
  if (!read) return tl::make_unexpected(read.error());
  job.account().wrote("process", *read, *read);
  auto file = OutputFile::create(job.output() + "/pids.out");
  if (!file) return tl::make_unexpected(file.error());
  file->write("UID          PID    SPID    PPID  C STIME TTY          TIME CMD\n");
  read = each_row(job, "thread", {"proc_id", "tid"}, [&](const Row& row) {
    const auto found = processes.find(row.number(0));
    if (found == processes.end()) return;
    const PsProcess& process = found->second;
    std::string command = process.command;
    std::replace(command.begin(), command.end(), '\n', ' ');
    file->write(fmt::format("{:<8} {:>7} {:>7} {:>7}  0 {} ?        00:00:00 {}\n", process.uid, process.pid,
                            row.number(1), process.ppid, local_time(job, process.first, "%H:%M"), command));
  });
  if (!read) return tl::make_unexpected(read.error());
  job.account().wrote("thread", *read, *read);
  if (auto closed = file->close(); !closed) return closed;
  nlohmann::json names = nlohmann::json::object();
  for (const auto& [id, process] : processes) names[std::to_string(process.pid)] = process.role;
  auto json = OutputFile::create(job.output() + "/pids.json");
  if (!json) return tl::make_unexpected(json.error());
  json->write(util::json_text(names, 4) + "\n");
  return json->close();
}

// syscalls.out, as bpftrace prints a map of counts: in ascending order.
Status write_syscalls(Export& job, std::vector<std::string>& missing) {
  std::map<std::string, int64_t> counts;
  int64_t wanted = 0;
  const auto read = each_row(job, "syscall", {"proc_id", "name", "calls"}, [&](const Row& row) {
    if (!job.wants_process(row.number(0))) return;
    counts[std::string(row.text(1))] += row.number(2);
    ++wanted;
  });
  if (!read) return tl::make_unexpected(read.error());
  job.account().wrote("syscall", wanted, int64_t(counts.size()));
  job.account().left_out("syscall", kNotWanted, *read - wanted);
  if (counts.empty()) {
    missing.emplace_back("syscalls.out is missing: system calls were not counted (--kprobes=syscalls counts them)");
    return {};
  }
  std::vector<std::pair<int64_t, std::string>> lines;
  for (const auto& [name, count] : counts) lines.emplace_back(count, name);
  std::sort(lines.begin(), lines.end());
  auto file = OutputFile::create(job.output() + "/syscalls.out");
  if (!file) return tl::make_unexpected(file.error());
  file->write(fmt::format("{:<17} {:<6} {:<10} {}\n\n\n", "TIMESTAMP", "PID", "COMMAND", "SYSCALL"));
  for (const auto& [count, name] : lines)
    file->write(fmt::format("@[tracepoint:syscalls:sys_enter_{}]: {}\n", one_word(name), count));
  return file->close();
}

// The script prints a line for each system call. Readers use only the two lines around a change of the second, so only these are written,
// a nanosecond apart.
Status write_time_align(Export& job) {
  auto file = OutputFile::create(job.output() + "/trace_time_align.out");
  if (!file) return tl::make_unexpected(file.error());
  file->write(fmt::format("{:<15} {:<8}\n", "TIMESTAMP", "TIME"));
  const int64_t last = job.run().clock.end.monotonic_ns.value_or(job.start_ns());
  const int64_t offset = job.realtime_offset_ns();
  int64_t second = (job.start_ns() + offset) / util::kNsPerS + 1;
  do {
    const int64_t at = second * util::kNsPerS - offset;
    file->write(fmt::format("{:<17} {}\n{:<17} {}\n", at - 1, local_time(job, at - 1, "%H:%M:%S"), at,
                            local_time(job, at, "%H:%M:%S")));
    ++second;
  } while (second * util::kNsPerS - offset < last);
  return file->close();
}

}  // namespace

Status write_process_files(Export& job, std::vector<std::string>& missing) {
  if (auto written = write_pids(job); !written) return written;
  if (auto written = write_syscalls(job, missing); !written) return written;
  return write_time_align(job);
}

}  // namespace mlrun::exchange
