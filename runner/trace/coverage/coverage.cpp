// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/coverage.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "runner/symbols/demangle.h"
#include "runner/trace/coverage/allocator_coverage.h"
#include "runner/trace/coverage/kernel_recorded.h"
#include "runner/trace/coverage/unseen_reasons.h"
#include "runner/trace/coverage/watched_processes.h"

namespace mlrun::trace {

void CoverageMeter::add(const model::CallRow& row) {
  bytes_.add(row, std::max<int64_t>(row.ret, 0));
  if (row.func == events::func::k_mmap) {
    mapped_.add(row);
    callers_.add(row);
    rings_.add(row);
  }
  programs_.add(row);
}

void CoverageMeter::add(const model::SumRow& sum) {
  if (sum.op == 0) bytes_.add(sum.call, sum.bytes, sum.calls);
}

void CoverageMeter::add_cut_off(SpoolIndex& index) {
  std::set<std::pair<uint64_t, uint64_t>> listed;
  for (const auto& [serial, gap] : index.gaps()) {
    if (gap.reason != MLRUN_GAP_CUT_OFF || !listed.insert({serial, gap.first_monotonic_ns}).second) continue;
    const Channel* channel = serial == 0 ? nullptr : index.channels().find(serial);
    rows_.push_back({channel ? channel->origin.proc_id : 0, "what processes did after the end of the run",
                     "they were still running when mlrun stopped recording", -1,
                     static_cast<int64_t>(std::min<uint64_t>(gap.count, INT64_MAX))});
  }
}

void CoverageMeter::add_failures(const model::Run& session) {
  struct Failure {
    const char *how, *subject, *detail;
    const char* level = model::kUnseen;
  };
  static constexpr Failure kFailures[] = {
      {"no_room", "processes", "their address space limit leaves no room for mlrun's buffer; raise it (ulimit -v)"},
      {"abi", "processes", "they loaded mlrun's library of another version"},
      {"no_clock", "processes that stopped recording",
       "they disabled the time stamp counter for themselves (seccomp strict, PR_SET_TSC)"},
      {"no_robust", "the end of threads",
       "libc registered no robust list for them, by which mlrun sees that a thread has ended", model::kRemark},
      {"walks", "what walks through folders opened and read",
       "ftw, nftw and fts open and read inside libc, where no hook is called", model::kRemark},
      {"streams", "flushes of streams",
       "only the first 64 with buffered bytes are recorded when fflush(NULL) or the end of the process flushes all"},
      {"bound_deep", "calls of libraries that find libc before the hooks",
       "the libraries were loaded with RTLD_DEEPBIND, or by dlmopen into another namespace"},
      {"by_handle", "calls of functions that were looked up in libc itself",
       "the program used a handle of libc (dlsym, ctypes, cffi, JNA), which finds no hook"},
  };
  for (const Failure& failure : kFailures) {
    const int64_t count = session.collector.failed(failure.how);
    if (count > 0) rows_.push_back({0, failure.subject, failure.detail, -1, count, failure.level});
  }
  if (session.unwatched_processes > 0) {
    rows_.push_back({0, "bytes read and written",
                     "mlrun watches at most 4,096 processes: whether further ones recorded their bytes is unknown", -1,
                     session.unwatched_processes});
  }
  if (session.placement.processes_left_out > 0) {
    rows_.push_back(
        {0, "nodes of mapped files",
         "mlrun keeps samples of at most 4,096 files and processes: page_node lacks files of further processes", -1,
         session.placement.processes_left_out, model::kRemark});
  }
}

std::vector<model::CoverageRow> CoverageMeter::finish(SpoolIndex& index, const model::Run& session,
                                                      const model::TraceInfo& info) {
  const UnseenReasons reasons(index, info, programs_);
  const bool whole = index.events_from_ns() == 0;  // else --last freed most records of what the kernel counted
  // Without the stream of file calls every byte that the kernel counted would be unrecorded.
  if (whole && session.has_stream("files")) {
    bytes_.add_rows(info, read_watched(session, info), reasons, rows_);
    if (session.recorded_by("block I/O").empty()) bytes_.add_device_rows(index, session.arena.medium != "file", rows_);
  }
  const WaitedChildren waited(index, info, bytes_.whole());
  programs_.add_rows(info, waited, rows_);
  add_cut_off(index);
  if (whole) reasons.add_children(waited, rows_);
  if (whole && !reasons.was_interrupted()) programs_.add_unseen_successors(info, rows_);
  // If the kernel side records page faults and io_uring or aio I/O as file operations, nothing of them is unseen.
  const std::string hint = kernel_side_hint(session);
  if (!records_faults(session)) mapped_.add_rows(info, hint, rows_);
  if (!records_asynchronous_io(session) && session.has_stream("files")) rings_.add_rows(index, info, hint, rows_);
  if (session.has_stream("allocs")) {
    for (model::CoverageRow& row : allocator_coverage(index, info, callers_)) rows_.push_back(std::move(row));
  }
  const bool has_calls = session.kernel_side.has_recorded() && session.kernel_side.cufile;
  if (!has_calls) add_cufile(info, rows_);
  add_failures(session);
  if (const size_t names = symbols::names_given_up(); names != 0) {
    rows_.push_back({0, "names of functions",
                     "left mangled: the process that demangles names crashed, timed out, or could not be started", -1,
                     static_cast<int64_t>(names), model::kRemark});
  }
  return std::move(rows_);
}

void add_remarks(model::TraceInfo& info, std::vector<model::CoverageRow> rows) {
  for (model::CoverageRow& row : rows) {
    row.level = model::kRemark;
    info.coverage.push_back(std::move(row));
  }
}

}  // namespace mlrun::trace
