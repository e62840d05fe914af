// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/coverage/ring_coverage.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/events/record.h"

namespace mlrun::trace {

namespace {

constexpr std::string_view kRing = "anon_inode:[io_uring]", kAio = "/[aio] (deleted)";
constexpr size_t kMappedMax = 10000;

// libcufile opens this file when a program calls the library, but not when the library is merely loaded, as by PyTorch.
constexpr const char* kCuFileMark = "/proc/driver/nvidia-fs/devcount";

// Names of io_uring operations by number (IORING_OP_…); nullptr: the operation moves bytes.
constexpr std::array<const char*, 62> kOperations = {"nop",
                                                     nullptr,
                                                     nullptr,
                                                     "fsync",
                                                     nullptr,
                                                     nullptr,
                                                     "poll_add",
                                                     "poll_remove",
                                                     "sync_file_range",
                                                     nullptr,
                                                     nullptr,
                                                     "timeout",
                                                     "timeout_remove",
                                                     "accept",
                                                     "async_cancel",
                                                     "link_timeout",
                                                     "connect",
                                                     "fallocate",
                                                     "openat",
                                                     "close",
                                                     "files_update",
                                                     "statx",
                                                     nullptr,
                                                     nullptr,
                                                     "fadvise",
                                                     "madvise",
                                                     nullptr,
                                                     nullptr,
                                                     "openat2",
                                                     "epoll_ctl",
                                                     nullptr,
                                                     "provide_buffers",
                                                     "remove_buffers",
                                                     nullptr,
                                                     "shutdown",
                                                     "renameat",
                                                     "unlinkat",
                                                     "mkdirat",
                                                     "symlinkat",
                                                     "linkat",
                                                     "msg_ring",
                                                     nullptr,
                                                     nullptr,
                                                     nullptr,
                                                     nullptr,
                                                     "socket",
                                                     nullptr,
                                                     nullptr,
                                                     nullptr,
                                                     nullptr,
                                                     "waitid",
                                                     "futex_wait",
                                                     "futex_wake",
                                                     "futex_waitv",
                                                     "fixed_fd_install",
                                                     "ftruncate",
                                                     "bind",
                                                     "listen",
                                                     nullptr,
                                                     "epoll_wait",
                                                     nullptr,
                                                     nullptr};

const char* harmless(uint32_t operation) { return operation < kOperations.size() ? kOperations[operation] : nullptr; }

// What a process recorded about its io_uring rings.
struct Made {
  bool any = false, may_move_bytes = false;
  std::set<std::string> operations;
};

std::map<int32_t, Made> made_rings(SpoolIndex& index) {
  std::map<int32_t, Made> made;
  for (const auto& [serial, ring] : index.notes().rings()) {
    const Channel* channel = index.channels().find(serial);
    Made& of = made[channel ? channel->origin.proc_id : 0];
    of.any |= ring.what == MLRUN_RING_MADE;
    if (ring.what == MLRUN_RING_MADE) continue;
    const char* name = ring.what == MLRUN_RING_USED ? harmless(ring.operation) : nullptr;
    of.may_move_bytes |= name == nullptr;
    if (name) of.operations.insert(name);
  }
  return made;
}

// Whether the rings of the process are recorded: by itself, or by a parent that it was forked from and whose rings it
// shares.
bool is_followed(const std::map<int32_t, Made>& made, const model::TraceInfo& info, int32_t proc_id) {
  const size_t count = info.processes.size();
  for (size_t steps = 0; steps < count && proc_id > 0 && static_cast<size_t>(proc_id) <= count; ++steps) {
    const auto known = made.find(proc_id);
    if (known != made.end() && known->second.any) return true;
    const model::ProcessRow& process = info.processes[static_cast<size_t>(proc_id) - 1];
    proc_id = process.forked ? process.parent_proc_id : 0;
  }
  return false;
}

}  // namespace

void RingCoverage::add(const model::CallRow& row) {
  const bool may_be = row.err == 0 && row.file_kind == model::FileKind::kAnonymous && mapped_.size() < kMappedMax;
  if (may_be) mapped_.emplace(row.file_id, row.origin.proc_id);
}

// Processes that mapped a ring: known by a recorded mmap call or, if the program bypasses libc's mmap, by
// /proc/PID/maps. 0: the process is unknown.
std::set<int32_t> RingCoverage::processes(const SpoolIndex& index, const model::TraceInfo& info) const {
  std::set<int32_t> found;
  for (const model::FileRow& file : info.files) {
    if (file.path != kRing) continue;
    auto at = mapped_.lower_bound({file.file_id, INT32_MIN});
    if (at == mapped_.end() || at->first != file.file_id) found.insert(0);
    for (; at != mapped_.end() && at->first == file.file_id; ++at) found.insert(at->second);
  }
  for (const Channel& channel : index.channels().all()) {
    if (found.contains(channel.origin.proc_id)) continue;
    const auto mapped = index.modules().libraries_of(channel.about.process);
    const bool any = std::any_of(mapped.begin(), mapped.end(),
                                 [&](int64_t library) { return index.modules().path(library) == kRing; });
    if (any) found.insert(channel.origin.proc_id);
  }
  return found;
}

void RingCoverage::add_rows(SpoolIndex& index, const model::TraceInfo& info, const std::string& hint,
                            std::vector<model::CoverageRow>& rows) const {
  const auto is_aio = [](std::string_view path) { return path == kAio; };
  const auto& mapped = index.modules().libraries();
  const bool aio = std::any_of(mapped.begin(), mapped.end(), is_aio);
  bool any_ring = std::find(mapped.begin(), mapped.end(), kRing) != mapped.end();
  for (const model::FileRow& file : info.files) any_ring |= file.path == kRing;
  const std::map<int32_t, Made> made = made_rings(index);
  bool io_uring = false;
  std::set<std::string> operations;
  for (const int32_t proc_id : any_ring ? processes(index, info) : std::set<int32_t>()) {
    io_uring |= proc_id != 0 ? !is_followed(made, info, proc_id) : made.empty();
  }
  for (const auto& [proc_id, rings] : made) {
    io_uring |= rings.may_move_bytes;
    operations.insert(rings.operations.begin(), rings.operations.end());
  }
  if (io_uring || aio) {
    rows.push_back({0,
                    fmt::format("operations submitted to {}{}{}", io_uring ? "io_uring" : "",
                                io_uring && aio ? " and " : "", aio ? "Linux's aio" : ""),
                    "the kernel carries them out outside of the program's calls; " + hint, -1, -1});
  } else if (!operations.empty()) {
    rows.push_back({0, "operations submitted to io_uring",
                    fmt::format("they moved no bytes: {}", fmt::join(operations, ", ")), -1, -1, model::kRemark});
  }
}

void add_cufile(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows) {
  bool is_used = false;
  for (const model::FileRow& file : info.files) is_used |= file.path == kCuFileMark;
  if (!is_used) return;
  rows.push_back(
      {0, "calls of cuFile (GPUDirect Storage)",
       "libcufile was used: its compatibility mode shows as reads and writes of its threads, but transfers by the "
       "driver are not seen; run mlrun as root with --kprobes=cufile to list its calls",
       -1, -1});
}

}  // namespace mlrun::trace
