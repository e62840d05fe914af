// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage.h"

#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/summary/units.h"
#include "runner/symbols/demangle.h"
#include "runner/trace/allocator_coverage.h"
#include "runner/trace/func_class.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

// What ld.so reads of libraries, and the library of its own process, stays below this: 12 KiB of `true`, 30 KiB of Python
// with NumPy, 44 KiB of PyTorch.
constexpr int64_t kUnseenBytesMin = 256 << 10;
// Small against what was seen; of more than kManyBytes a smaller share tells.
constexpr int64_t kUnseenPercentMin = 10;
constexpr int64_t kManyBytes = 1 << 20;
constexpr int64_t kManyPercentMin = 1;
// Mappings of shorter files are not worth a line. ld.so's own are no calls, nor is what it maps for dlopen.
constexpr int64_t kMappedBytesMin = 1 << 20;
constexpr size_t kMappedFilesMax = 10000;
constexpr size_t kExecutedMax = 1000;
// libcufile reads it when a program has called it, and not when it is merely loaded, as by PyTorch.
constexpr const char* kCuFileMark = "/proc/driver/nvidia-fs/devcount";

const char* why_not(int32_t verdict) {
  switch (static_cast<mlrun_exec_target>(verdict)) {
    case MLRUN_EXEC_STATIC: return "statically linked";
    case MLRUN_EXEC_FOREIGN: return "for another processor";
    case MLRUN_EXEC_UNREACHABLE:
      return "cannot reach the library or the buffer where it runs (another user or root folder, a seccomp filter)";
    case MLRUN_EXEC_RAISED: return "runs with raised rights (setuid, setgid or file capabilities)";
    case MLRUN_EXEC_NESTED: return "has a trace of its own, by an mlrun inside this one";
    case MLRUN_EXEC_TOO_LARGE:
      return "got an environment without the library, too large to be changed (over 4096 entries, or 16 KiB of "
             "LD_PRELOAD)";
    case MLRUN_EXEC_TRACED:
    case MLRUN_EXEC_UNKNOWN: return nullptr;
  }
  return nullptr;
}

// Whether the bytes of such calls are in /proc/PID/io: those of sockets' own calls and of pipes' are not.
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
    default: return transfers(number);
  }
}

bool is_worth_telling(int64_t unseen, int64_t kernel) {
  if (unseen < kUnseenBytesMin) return false;
  return unseen / (unseen >= kManyBytes ? kManyPercentMin : kUnseenPercentMin) >= kernel / 100;
}

}  // namespace

void CoverageMeter::add_bytes(const model::CallRow& row, int64_t moved) {
  if (!is_counted_by_kernel(row.func)) return;
  const auto process = static_cast<size_t>(row.origin.proc_id);
  if (process >= bytes_.size()) bytes_.resize(process + 1);
  const auto call_class = class_of_func(row.func);
  if (call_class != MLRUN_CLASS_WRITE) util::add_to(bytes_[process].read, moved);
  if (call_class != MLRUN_CLASS_READ) util::add_to(bytes_[process].written, moved);
}

void CoverageMeter::add(const model::SumRow& sum) {
  if (sum.op == 0) add_bytes(sum.call, sum.bytes);
}

// Data that is mapped is read by page faults.
void CoverageMeter::add_mapped(const model::CallRow& row) {
  const bool is_data =
      row.file_kind == model::FileKind::kRegular && (row.arg2 & PROT_EXEC) == 0 && row.arg2 != PROT_NONE;
  if (row.err != 0 || !is_data || row.requested < kMappedBytesMin) return;
  if (mapped_.size() >= kMappedFilesMax && !mapped_.contains(row.file_id)) {
    ++mapped_left_out_;
    return;
  }
  int64_t& bytes = mapped_[row.file_id];
  bytes = std::max(bytes, row.requested);
}

// Not of what a vfork child executed, which its parent tells (ret is its pid): that is a child that recorded nothing.
void CoverageMeter::note_successor(const model::CallRow& row) {
  if (row.ret > 0 || (row.err == 0 && why_not(row.flags))) return;
  Successor& successor = successors_[row.origin.image_id];
  if (row.err != 0) {
    successor.failed_ns = std::max(successor.failed_ns, row.origin.ts_ns);
  } else if (row.origin.ts_ns > successor.begun_ns) {
    successor.begun_ns = row.origin.ts_ns;
    successor.file_id = row.file_id;
  }
}

void CoverageMeter::add(const model::CallRow& row) {
  add_bytes(row, std::max<int64_t>(row.ret, 0));
  if (row.func == events::func::k_mmap) add_mapped(row);
  if (row.func == events::func::k_execve) note_successor(row);
  const bool starts_shell = row.func == events::func::k_system || row.func == events::func::k_popen;
  if (starts_shell && row.flags != MLRUN_EXEC_TRACED) ++shells_[row.origin.proc_id];
  const bool executes = row.func == events::func::k_execve || row.func == events::func::k_posix_spawn;
  if (!executes || row.err != 0 || !why_not(row.flags)) return;
  const Execution execution{row.origin.proc_id, row.file_id, row.flags};
  if (executed_.size() >= kExecutedMax && !executed_.contains(execution)) {
    ++executed_left_out_;
    return;
  }
  ++executed_[execution];
}

void CoverageMeter::add_row(int32_t proc_id, std::string subject, std::string detail, int64_t seen, int64_t kernel) {
  model::CoverageRow row;
  row.proc_id = proc_id;
  row.subject = std::move(subject);
  row.detail = std::move(detail);
  row.seen = seen;
  row.kernel = kernel;
  rows_.push_back(std::move(row));
}

CoverageMeter::Bytes CoverageMeter::bytes_of(int32_t proc_id) const {
  const auto index = static_cast<size_t>(proc_id);
  return index < bytes_.size() ? bytes_[index] : Bytes{};
}

void CoverageMeter::compare_bytes(const model::TraceInfo& info) {
  // The kernel adds what a child read and wrote to its parent's totals when the parent has waited for it. Of a child that
  // was killed at least what it recorded is known.
  std::vector<Bytes> of_children(info.processes.size() + 1);
  for (const model::ProcessRow& process : info.processes) {
    const auto parent = static_cast<size_t>(process.parent_proc_id);
    if (parent == 0 || parent >= of_children.size()) continue;
    const Bytes recorded = bytes_of(process.proc_id);
    util::add_to(of_children[parent].read, std::max(process.kernel_rchar, recorded.read));
    util::add_to(of_children[parent].written, std::max(process.kernel_wchar, recorded.written));
  }
  for (const model::LeftOutRow& row : info.left_out) {
    const auto process = static_cast<size_t>(row.proc_id);
    if (process >= bytes_.size()) bytes_.resize(process + 1);
    util::add_to(bytes_[process].read, row.bytes_read);
    util::add_to(bytes_[process].written, row.bytes_written);
  }
  const auto compare = [&](int32_t proc_id, const char* subject, int64_t seen, int64_t kernel, int64_t children) {
    const int64_t unseen = util::sum_of(util::sum_of(kernel, -children), -seen);
    if (kernel < 0 || !is_worth_telling(unseen, kernel)) return;
    add_row(proc_id, subject, why_unseen(proc_id) + "; the kernel counted them", seen, seen + unseen);
  };
  for (const model::ProcessRow& process : info.processes) {
    const auto index = static_cast<size_t>(process.proc_id);
    const Bytes bytes = bytes_of(process.proc_id);
    const Bytes children = index < of_children.size() ? of_children[index] : Bytes{};
    compare(process.proc_id, "bytes read", bytes.read, process.kernel_rchar, children.read);
    compare(process.proc_id, "bytes written", bytes.written, process.kernel_wchar, children.written);
  }
}

void CoverageMeter::add_executed(const model::TraceInfo& info) {
  for (const auto& [key, times] : executed_) {
    const auto& [proc_id, file_id, verdict] = key;
    const bool known = file_id > 0 && static_cast<size_t>(file_id) <= info.files.size();
    const std::string path = known ? info.files[static_cast<size_t>(file_id) - 1].path : "a program";
    add_row(proc_id, path, why_not(verdict), 0, times);
  }
  if (executed_left_out_ == 0) return;
  add_row(0, "programs that were executed beyond those named",
          fmt::format("they cannot be followed either; of at least {} programs and processes {} are named",
                      kExecutedMax + 1, kExecutedMax),
          0, executed_left_out_);
}

void CoverageMeter::add_shells() {
  for (const auto& [proc_id, times] : shells_) {
    add_row(proc_id, "what the shells of system and popen did",
            "the program had taken the library out of its environment, which libc hands on, or is confined by seccomp",
            0, times);
  }
}

void CoverageMeter::add_silent_successors(const model::TraceInfo& info) {
  std::map<int32_t, int64_t> last_start;  // of a process's images
  for (const model::ImageRow& image : info.images) {
    const auto [place, made] = last_start.try_emplace(image.proc_id, image.start_ns);
    if (!made) place->second = std::max(place->second, image.start_ns);
  }
  std::map<std::pair<int32_t, int64_t>, int64_t> silent;  // times, by process and file
  for (const model::ImageRow& image : info.images) {
    const auto found = successors_.find(image.image_id);
    if (found == successors_.end() || found->second.begun_ns <= found->second.failed_ns) continue;
    if (last_start[image.proc_id] <= image.start_ns) ++silent[{image.proc_id, found->second.file_id}];
  }
  for (const auto& [key, times] : silent) {
    const bool known = key.second > 0 && static_cast<size_t>(key.second) <= info.files.size();
    add_row(key.first, known ? info.files[static_cast<size_t>(key.second) - 1].path : "a program",
            "it was executed and recorded nothing: it ended at once, or runs under a seccomp filter", 0, times);
  }
}

void CoverageMeter::add_cut_off(SpoolIndex& index) {
  std::set<std::pair<uint64_t, uint64_t>> told;
  for (const auto& [serial, gap] : index.gaps()) {
    if (gap.reason != MLRUN_GAP_CUT_OFF || !told.insert({serial, gap.first_monotonic_ns}).second) continue;
    const Channel* channel = serial == 0 ? nullptr : index.channels().find(serial);
    add_row(channel ? channel->origin.proc_id : 0, "what processes did after the end of the run",
            "they were still running", -1, static_cast<int64_t>(std::min<uint64_t>(gap.count, INT64_MAX)));
  }
}

// What is known to have kept bytes from being seen.
void CoverageMeter::note_reasons(SpoolIndex& index, const model::TraceInfo& info) {
  for (const auto& [serial, gap] : index.gaps()) {
    was_paused_ |= gap.reason == MLRUN_GAP_PAUSED;
    was_stopped_ |= gap.reason == MLRUN_GAP_SPOOL_FULL || gap.reason == MLRUN_GAP_COLLECTOR;
  }
  for (const model::ProcessRow& process : info.processes) {
    if (process.kernel_rchar < 0) with_unended_children_.insert(process.parent_proc_id);
  }
  for (const auto& [key, times] : executed_) with_executed_.insert(std::get<0>(key));
  // Children whose pid no recording process ever had.
  std::set<std::pair<int64_t, int32_t>> recorded;  // pid namespace and pid in it
  for (const model::ProcessRow& process : info.processes) recorded.insert({process.pid_namespace, process.ns_pid});
  for (const ChildFact& child : index.notes().children()) {
    const Channel& parent = index.channels().all()[child.channel];
    const auto pid = static_cast<int32_t>(child.pid);
    if (recorded.contains({static_cast<int64_t>(parent.about.pid_namespace), pid})) continue;
    ++silent_[parent.origin.proc_id];
  }
}

std::string CoverageMeter::why_unseen(int32_t proc_id) const {
  std::vector<const char*> reasons;
  if (was_paused_) reasons.push_back("while recording was paused");
  if (was_stopped_) reasons.push_back("after recording had stopped");
  if (silent_.contains(proc_id)) reasons.push_back("by children that recorded nothing");
  if (with_unended_children_.contains(proc_id)) {
    reasons.push_back("by children that were killed, or went on as a program without the library");
  }
  if (with_executed_.contains(proc_id)) reasons.push_back("by a program that it executed and that cannot be followed");
  if (reasons.empty()) return "by the system call instruction, io_uring or inside libc";
  return fmt::format("{}", fmt::join(reasons, ", or "));
}

void CoverageMeter::add_children() {
  for (const auto& [proc_id, count] : silent_) {
    add_row(proc_id, "child processes", "they recorded nothing: setuid, statically linked, or gone at once", 0, count);
  }
}

void CoverageMeter::add_mapped_files(const model::TraceInfo& info) {
  if (mapped_.empty()) return;
  const auto largest = std::max_element(mapped_.begin(), mapped_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto index = static_cast<size_t>(largest->first);
  std::string detail = index > 0 && index <= info.files.size() ? info.files[index - 1].path : "a file";
  detail += " (" + summary::bytes_text(largest->second) + ")";
  const int64_t others = static_cast<int64_t>(mapped_.size()) - 1;
  if (others > 0 || mapped_left_out_ > 0) {
    detail += fmt::format(" and {}{} more of 1 MiB or more", mapped_left_out_ > 0 ? "at least " : "", others);
  }
  add_row(0, "what is read and written in mapped files", detail + ": page faults are no calls; --kprobes has them", -1,
          -1);
}

void CoverageMeter::add_cufile(const model::TraceInfo& info) {
  bool is_used = false;
  for (const model::FileRow& file : info.files) is_used |= file.path == kCuFileMark;
  if (!is_used) return;
  add_row(0, "calls of cuFile (GPUDirect Storage)",
          "libcufile was used: what it moves in its compatibility mode is in the reads and writes of its threads, what "
          "the driver moves is not seen; --kprobes=cufile lists its calls, as root",
          -1, -1);
}

// libc's mmap leaves a row with the name of the ring; a program that goes past it is found by what it has mapped.
void CoverageMeter::add_rings(const SpoolIndex& index, const model::TraceInfo& info) {
  bool io_uring = false, aio = false;
  const auto look = [&](std::string_view path) {
    io_uring |= path == "anon_inode:[io_uring]";
    aio |= path == "/[aio] (deleted)";
  };
  for (const model::FileRow& file : info.files) look(file.path);
  for (const std::string& mapped : index.modules().libraries()) look(mapped);
  if (!io_uring && !aio) return;
  add_row(0,
          fmt::format("what {}{}{} was handed", io_uring ? "io_uring" : "", io_uring && aio ? " and " : "",
                      aio ? "Linux's aio" : ""),
          "the kernel reads and writes it in no call of the program's; --kprobes has it", -1, -1);
}

void CoverageMeter::add_failures(const SessionInfo& session) {
  static constexpr std::pair<const char*, std::pair<const char*, const char*>> kFailures[] = {
      {"/collector/failures/no_room", {"processes", "their address space limit leaves no room for the buffer"}},
      {"/collector/failures/abi", {"processes", "they carry another version of the library"}},
      {"/collector/failures/no_clock", {"processes from some moment on", "they gave up their clock (strict seccomp)"}},
      {"/collector/failures/no_robust", {"the end of threads", "their robust list was not found"}},
      {"/collector/failures/walks",
       {"what walks through folders opened and read", "ftw, nftw and fts do it inside libc"}},
      {"/collector/failures/streams",
       {"flushes of streams",
        "more than 64 had bytes to write when fflush(NULL) or the end of the process wrote them"}},
  };
  for (const auto& [pointer, text] : kFailures) {
    const int64_t count = session.number(pointer, 0);
    if (count > 0) add_row(0, text.first, text.second, -1, count);
  }
}

std::vector<model::CoverageRow> CoverageMeter::finish(SpoolIndex& index, const SessionInfo& session,
                                                      const model::TraceInfo& info) {
  note_reasons(index, info);
  const bool whole = index.events_from_ns() == 0;  // else most of what the kernel counted was freed
  // Without records of files every byte would be unseen.
  if (whole && session.has_stream("files")) compare_bytes(info);
  add_executed(info);
  add_shells();
  add_cut_off(index);
  if (whole) add_children();
  if (whole && !was_paused_ && !was_stopped_) add_silent_successors(info);
  // The kernel side tells of faults and rings as file operations, or of what they read from devices.
  const bool sees_faults = session.has_stream("vfs") && session.text("/kernel_side/state") == "recorded";
  if (!sees_faults) add_mapped_files(info);
  if (!sees_faults && session.has_stream("files")) add_rings(index, info);
  if (session.has_stream("allocs")) {
    for (model::CoverageRow& row : allocator_coverage(index, info)) rows_.push_back(std::move(row));
  }
  const bool has_calls = session.has_stream("cufile") && session.text("/kernel_side/state") == "recorded";
  if (!has_calls) add_cufile(info);
  add_failures(session);
  if (const size_t names = symbols::names_given_up(); names != 0) {
    add_row(0, "names of functions",
            "they stand as compilers made them: the process that reads such names ended, was held up, or could not be "
            "begun",
            -1, static_cast<int64_t>(names));
  }
  return std::move(rows_);
}

}  // namespace mlrun::trace
