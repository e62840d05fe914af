// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/unseen_bytes.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runner/decode/func_class.h"
#include "runner/util/saturating.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

// Fewer unrecorded bytes are not reported: ld.so reads the headers of libraries, and mlrun's library reads files for
// itself. Together these are 12 KiB for `true`, 30 KiB for Python with NumPy, 44 KiB for PyTorch.
constexpr int64_t kUnseenBytesMin = 256 << 10;
// Minimum share of unrecorded bytes in the kernel's count, in percent; from kManyBytes on, kManyPercentMin is enough.
constexpr int64_t kUnseenPercentMin = 10;
constexpr int64_t kManyBytes = 1 << 20;
constexpr int64_t kManyPercentMin = 1;
// Bytes that a call may move to or from devices beyond twice its own bytes (read-ahead grows to twice the read size):
// whole pages at both ends and the first read-ahead. Calls that move no bytes read metadata.
constexpr int64_t kDeviceBytesOfCall = 24 << 10;
constexpr int64_t kCallsMax = int64_t{1} << 40;
constexpr int64_t kDeviceBytesMin = 16 << 20;
constexpr int64_t kDevicePercentMin = 10;

std::string_view counted_text(bool is_final) {
  return is_final ? "the kernel counted them"
                  : "the kernel had counted them when /proc/PID/io was last read, and may have counted more since";
}

// Whether /proc/PID/io counts the bytes of this function: not those of send(), recv() and the like, and vmsplice().
bool is_counted_by_kernel(uint16_t number) {
  switch (number) {
    case events::func::k_send:
    case events::func::k_sendto:
    case events::func::k_sendmsg:
    case events::func::k_sendmmsg:
    case events::func::k_recv:
    case events::func::k_recvfrom:
    case events::func::k_recvmsg:
    case events::func::k_recvmmsg:
    case events::func::k_vmsplice: return false;
    case events::func::k_sendfile:
    case events::func::k_copy_file_range: return true;
    default: return decode::transfers(number);
  }
}

bool is_worth_a_row(int64_t unseen, int64_t kernel) {
  if (unseen < kUnseenBytesMin) return false;
  return unseen / (unseen >= kManyBytes ? kManyPercentMin : kUnseenPercentMin) >= kernel / 100;
}

}  // namespace

UnseenBytes::Bytes& UnseenBytes::of(int32_t proc_id) {
  const auto process = static_cast<size_t>(proc_id);
  if (process >= bytes_.size()) bytes_.resize(process + 1);
  return bytes_[process];
}

void UnseenBytes::add(const model::CallRow& row, int64_t moved, int64_t calls) {
  Bytes& bytes = of(row.origin.proc_id);
  util::add_to(bytes.calls, calls);
  if (!is_counted_by_kernel(row.func)) return;
  const auto call_class = decode::class_of_func(row.func);
  if (call_class != MLRUN_CLASS_WRITE) util::add_to(bytes.read, moved);
  if (call_class != MLRUN_CLASS_READ) util::add_to(bytes.written, moved);
}

void UnseenBytes::find_processes(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched) {
  for (const model::LeftOutRow& row : info.left_out) {
    util::add_to(of(row.proc_id).read, row.bytes_read);
    util::add_to(of(row.proc_id).written, row.bytes_written);
  }
  processes_.clear();
  for (const model::ProcessRow& row : info.processes) {
    Process& process = processes_.emplace_back();
    process.proc_id = row.proc_id;
    process.pid = row.pid;
    process.asked_ns = row.kernel_io_ns;
    process.last_ns = row.last_ns;
    process.is_final = row.kernel_io_final;  // the process's own final values, or its parent's report of them
    process.seen = of(row.proc_id);
    process.whole = {row.kernel_rchar, row.kernel_wchar,      row.kernel_syscr,
                     row.kernel_syscw, row.kernel_read_bytes, row.kernel_write_bytes};
  }
  for (const WatchedProcess& seen : watched) {
    const bool is_new = seen.proc_id == 0;
    Process& process = is_new ? processes_.emplace_back() : processes_[static_cast<size_t>(seen.proc_id) - 1];
    process.pid = seen.pid;
    process.exe = seen.exe.empty() ? seen.comm : seen.exe;
    process.is_command = seen.is_command;
    if (seen.is_alive) process.last_ns = INT64_MAX;
    if (is_new) process.last_ns = std::max(process.last_ns, seen.io.ts_ns);
    // Counts only grow, so larger ones are newer. The process's end record was written before its last I/O at exit.
    const bool is_newer = seen.io.rchar > process.whole.read || seen.io.wchar > process.whole.written;
    if (seen.io.rchar < 0 || (!seen.is_final && !is_newer)) continue;
    process.is_final = seen.is_final;
    process.asked_ns = std::max(process.asked_ns, seen.io.ts_ns);
    Counts& counts = process.whole;
    counts = {std::max(counts.read, seen.io.rchar),
              std::max(counts.written, seen.io.wchar),
              std::max(counts.read_calls, seen.io.syscr),
              std::max(counts.write_calls, seen.io.syscw),
              std::max(counts.from_devices, seen.io.read_bytes),
              std::max(counts.to_devices, seen.io.write_bytes)};
  }
}

void UnseenBytes::find_parents(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched) {
  std::map<int32_t, int64_t> by_pid;  // index of the last process with that pid
  for (size_t i = 0; i < processes_.size(); ++i) by_pid[processes_[i].pid] = static_cast<int64_t>(i);
  const auto find = [&](int32_t pid, size_t child) {
    const auto found = by_pid.find(pid);
    return found == by_pid.end() || found->second == static_cast<int64_t>(child) ? int64_t{-1} : found->second;
  };
  for (size_t i = 0; i < info.processes.size(); ++i) {
    const int32_t parent = info.processes[i].parent_proc_id;
    processes_[i].parent = parent > 0 ? parent - 1 : find(info.processes[i].ppid, i);
  }
  size_t next_unseen = info.processes.size();
  for (const WatchedProcess& seen : watched) {
    const size_t at = seen.proc_id == 0 ? next_unseen++ : static_cast<size_t>(seen.proc_id) - 1;
    if (const int64_t parent = find(seen.ppid, at); parent >= 0) processes_[at].parent = parent;
  }
  for (Process& process : processes_) {
    process.parent_recorded = process.parent >= 0 && processes_[static_cast<size_t>(process.parent)].proc_id != 0;
  }
}

// A killed child's final counts are unknown; at least its recorded bytes are subtracted.
void UnseenBytes::take_children_off() {
  for (Process& process : processes_) process.own = process.whole;
  const auto take_off = [](int64_t& from, int64_t bytes) {
    if (from >= 0 && bytes > 0) from = std::max<int64_t>(util::sum_of(from, -bytes), 0);
  };
  const auto parent_of = [&](const Process& child) { return &processes_[static_cast<size_t>(child.parent)]; };
  for (Process& child : processes_) {
    const bool is_included = child.parent >= 0 && child.last_ns <= parent_of(child)->asked_ns;
    child.is_in_parent = is_included && child.proc_id == 0 && !child.is_final;
  }
  for (const Process& child : processes_) {
    if (child.parent < 0 || child.is_in_parent) continue;
    Process* counting = parent_of(child);
    for (size_t i = 0; counting->is_in_parent && i < processes_.size(); ++i) counting = parent_of(*counting);
    Process& parent = *counting;
    if (child.last_ns > parent.asked_ns) continue;  // the parent's counts do not include it yet
    take_off(parent.own.read, std::max(child.whole.read, child.seen.read));
    take_off(parent.own.written, std::max(child.whole.written, child.seen.written));
    take_off(parent.own.read_calls, child.whole.read_calls);
    take_off(parent.own.write_calls, child.whole.write_calls);
    take_off(parent.own.from_devices, child.whole.from_devices);
    take_off(parent.own.to_devices, child.whole.to_devices);
  }
}

void UnseenBytes::add_recorded(const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows) {
  for (const Process& process : processes_) {
    if (process.proc_id == 0) continue;
    whole_.insert(process.proc_id);
    const auto compare = [&](const char* subject, int64_t seen, int64_t own, int64_t whole) {
      const int64_t unseen = util::sum_of(own, -seen);
      if (whole < 0 || unseen >= kUnseenBytesMin) whole_.erase(process.proc_id);
      if (whole < 0 || !is_worth_a_row(unseen, whole)) return;
      rows.push_back({process.proc_id, subject,
                      fmt::format("{}; {}", reasons.why(process.proc_id), counted_text(process.is_final)), seen,
                      seen + unseen});
    };
    compare("bytes read", process.seen.read, process.own.read, process.whole.read);
    compare("bytes written", process.seen.written, process.own.written, process.whole.written);
  }
}

// Adds rows for processes that recorded nothing. A child of a recorded process is named by other rules (UnseenReasons,
// ExecutedPrograms), so only its bytes get rows here.
void UnseenBytes::add_unseen_processes(const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows) const {
  std::map<std::string, Unseen> unseen;
  for (const Process& process : processes_) {
    if (process.proc_id != 0) continue;
    Unseen& of = unseen[process.exe];
    ++of.processes;
    of.unnamed += process.parent_recorded ? 0 : 1;
    of.any_command |= process.is_command;
    if (process.is_in_parent) continue;
    of.all_final &= process.is_final;
    of.unreadable += process.whole.read < 0 ? 1 : 0;
    util::add_to(of.read, std::max({process.own.read, process.own.from_devices, int64_t{0}}));
    util::add_to(of.written, std::max({process.own.written, process.own.to_devices, int64_t{0}}));
  }
  const char* paused = reasons.was_interrupted() ? ", or recording was paused or had ended" : "";
  for (const auto& one : unseen) {
    const auto& exe = one.first;
    const auto& of = one.second;
    const std::string name = exe.empty() ? "a program that had ended before mlrun could read its name" : exe;
    if (of.unnamed > 0) {
      rows.push_back(
          {0, name,
           fmt::format("{} recorded nothing: statically linked, setuid, built for another processor architecture, "
                       "without mlrun's library in its environment, or ended at once{}",
                       of.any_command && of.unnamed == 1 ? "the command itself" : "it", paused),
           0, of.unnamed});
    }
    if (of.unreadable > 0) {
      rows.push_back({0, "bytes read and written",
                      "by " + name +
                          ", which recorded nothing: their number is unknown, /proc/PID/io of another user's "
                          "process cannot be read",
                      -1, of.unreadable});
    }
    const auto add_row = [&](const char* subject, int64_t bytes) {
      if (bytes < kUnseenBytesMin) return;
      rows.push_back({0, subject,
                      fmt::format("by {}{}, which recorded nothing; {}", name,
                                  of.processes == 1 ? "" : fmt::format(" ({} processes)", of.processes),
                                  counted_text(of.all_final)),
                      0, bytes});
    };
    add_row("bytes read", of.read);
    add_row("bytes written", of.written);
  }
}

void UnseenBytes::add_rows(const model::TraceInfo& info, const std::vector<WatchedProcess>& watched,
                           const UnseenReasons& reasons, std::vector<model::CoverageRow>& rows) {
  find_processes(info, watched);
  find_parents(info, watched);
  take_children_off();
  add_recorded(reasons, rows);
  if (!info.processes.empty())
    add_unseen_processes(reasons, rows);  // if no process recorded anything, the summary reports that instead
}

void UnseenBytes::add_device_rows(const SpoolIndex& index, bool with_writes,
                                  std::vector<model::CoverageRow>& rows) const {
  std::map<int32_t, std::set<std::string>> libraries;  // by proc_id
  for (const Channel& channel : index.channels().all()) {
    for (const int64_t library : index.modules().libraries_of(channel.about.process)) {
      libraries[channel.origin.proc_id].insert(index.modules().path(library));
    }
  }
  const auto size_of = [](const std::string& path) {
    struct stat status {};
    return ::stat(util::unescaped_utf8(path).c_str(), &status) == 0 ? int64_t{status.st_size} : 0;
  };
  for (const Process& process : processes_) {
    if (process.proc_id == 0) continue;
    const auto add_row = [&](const char* subject, const char* detail, int64_t caused, int64_t devices) {
      const int64_t excess = util::sum_of(devices, -caused);
      if (excess < kDeviceBytesMin || excess / kDevicePercentMin < devices / 100) return;
      rows.push_back({process.proc_id, subject, detail, caused, devices});
    };
    const auto caused_by = [&](int64_t bytes, int64_t kernel_calls) {
      const int64_t moved = std::max<int64_t>(bytes, 0);
      const int64_t calls = util::sum_of(std::max<int64_t>(kernel_calls, 0), process.seen.calls);
      return util::sum_of(util::sum_of(moved, moved), std::min(calls, kCallsMax) * kDeviceBytesOfCall);
    };
    int64_t read = caused_by(process.own.read, process.own.read_calls);
    if (process.own.from_devices > read) {
      for (const std::string& library : libraries[process.proc_id]) util::add_to(read, size_of(library));
    }
    add_row(
        "bytes read from devices",
        "more than its calls and its libraries can have caused: page faults of mapped files, io_uring or Linux's aio",
        read, process.own.from_devices);
    if (!with_writes) continue;
    add_row("bytes written to devices",
            "more than its calls can have caused: stores to mapped files, io_uring or Linux's aio",
            caused_by(process.own.written, process.own.write_calls), process.own.to_devices);
  }
}

}  // namespace mlrun::trace
