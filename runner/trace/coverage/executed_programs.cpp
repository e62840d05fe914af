// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/executed_programs.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runner/events/call_layout.h"
#include "runner/events/record.h"

namespace mlrun::trace {

namespace {

constexpr size_t kExecutedMax = 1000;

const char* why_not(int32_t verdict) {
  switch (static_cast<mlrun_exec_target>(verdict)) {
    case MLRUN_EXEC_STATIC: return "statically linked";
    case MLRUN_EXEC_FOREIGN: return "built for another processor architecture";
    case MLRUN_EXEC_OTHER_LIBC: return "linked with another C library than glibc, such as musl";
    case MLRUN_EXEC_32_BIT: return "a 32-bit program";
    case MLRUN_EXEC_UNREACHABLE:
      return "cannot reach the library or the buffer where it runs (another user or root folder, a seccomp filter)";
    case MLRUN_EXEC_RAISED: return "runs with raised rights (setuid, setgid or file capabilities)";
    case MLRUN_EXEC_NESTED: return "has a trace of its own: it was started by an mlrun inside this run";
    case MLRUN_EXEC_TOO_LARGE:
      return "its environment lacks mlrun's library and is too large to be changed (over 4096 entries, over 16 KiB of "
             "LD_PRELOAD, or no memory for a copy)";
    case MLRUN_EXEC_TRACED:
    case MLRUN_EXEC_UNKNOWN: return nullptr;
  }
  return nullptr;
}

}  // namespace

// Ignores the exec of a vfork child, which its parent records (ret is the child's pid): it replaces no recorded image.
void ExecutedPrograms::note_successor(const model::CallRow& row) {
  if (row.ret > 0 || (row.err == 0 && why_not(row.flags))) return;
  Successor& successor = successors_[row.origin.image_id];
  if (row.err != 0) {
    successor.failed_ns = std::max(successor.failed_ns, row.origin.ts_ns);
  } else if (row.origin.ts_ns > successor.begun_ns) {
    successor.begun_ns = row.origin.ts_ns;
    successor.file_id = row.file_id;
  }
}

void ExecutedPrograms::add(const model::CallRow& row) {
  if (row.func == events::func::k_execve) note_successor(row);
  const bool starts_shell = row.func == events::func::k_system || row.func == events::func::k_popen;
  if (starts_shell && row.flags != MLRUN_EXEC_TRACED) ++shells_[row.origin.proc_id];
  const bool executes = row.func == events::func::k_execve || row.func == events::func::k_posix_spawn;
  if (!executes || row.err != 0 || !why_not(row.flags)) return;
  const auto pid = static_cast<int32_t>(std::clamp<int64_t>(row.ret, 0, INT32_MAX));
  if (pid != 0) children_.at(child_key(row.origin.proc_id, pid)) = true;
  const Execution execution{row.origin.proc_id, row.file_id, row.flags};
  if (executed_.size() >= kExecutedMax && !executed_.contains(execution)) {
    ++executed_left_out_;
    return;
  }
  Times& times = executed_[execution];
  if (times.pids.empty() || times.pids.back() != pid) times.pids.push_back(pid);
  ++times.all;
}

std::set<int32_t> ExecutedPrograms::parents() const {
  std::set<int32_t> parents;
  for (const auto& [key, times] : executed_) parents.insert(std::get<0>(key));
  return parents;
}

void ExecutedPrograms::add_rows(const model::TraceInfo& info, const WaitedChildren& waited,
                                std::vector<model::CoverageRow>& rows) const {
  for (const auto& [key, times] : executed_) {
    const auto& [proc_id, file_id, verdict] = key;
    const bool known = file_id > 0 && static_cast<size_t>(file_id) <= info.files.size();
    const std::string path = known ? info.files[static_cast<size_t>(file_id) - 1].path : "a program";
    const bool is_remark = verdict == MLRUN_EXEC_NESTED ||
                           std::all_of(times.pids.begin(), times.pids.end(), [&, process = proc_id](int32_t pid) {
                             return pid != 0 ? waited.moved_nothing(process, pid) : waited.moved_nothing(process);
                           });
    rows.push_back({proc_id, path, why_not(verdict), 0, times.all, is_remark ? model::kRemark : model::kUnseen});
  }
  if (executed_left_out_ != 0) {
    rows.push_back(
        {0, "programs that were executed beyond those named",
         fmt::format("they cannot be traced either; of at least {} pairs of process and program only {} are named",
                     kExecutedMax + 1, kExecutedMax),
         0, executed_left_out_});
  }
  add_shells(rows);
}

void ExecutedPrograms::add_shells(std::vector<model::CoverageRow>& rows) const {
  for (const auto& [proc_id, times] : shells_) {
    rows.push_back(
        {proc_id, "what the shells of system and popen did",
         "the program had removed mlrun's library from its environment, which the shell inherits, or is confined by "
         "seccomp",
         0, times});
  }
}

void ExecutedPrograms::add_unseen_successors(const model::TraceInfo& info,
                                             std::vector<model::CoverageRow>& rows) const {
  std::map<int32_t, int64_t> last_start;  // by proc_id: start of its last image
  for (const model::ImageRow& image : info.images) {
    const auto [place, made] = last_start.try_emplace(image.proc_id, image.start_ns);
    if (!made) place->second = std::max(place->second, image.start_ns);
  }
  std::map<std::pair<int32_t, int64_t>, int64_t> unseen;  // count by process and file
  for (const model::ImageRow& image : info.images) {
    const auto found = successors_.find(image.image_id);
    if (found == successors_.end() || found->second.begun_ns <= found->second.failed_ns) continue;
    if (last_start[image.proc_id] <= image.start_ns) ++unseen[{image.proc_id, found->second.file_id}];
  }
  for (const auto& [key, times] : unseen) {
    const bool known = key.second > 0 && static_cast<size_t>(key.second) <= info.files.size();
    rows.push_back({key.first, known ? info.files[static_cast<size_t>(key.second) - 1].path : "a program",
                    "it was executed and recorded nothing: it ended at once, or runs under a seccomp filter", 0,
                    times});
  }
}

}  // namespace mlrun::trace
