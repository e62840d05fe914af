// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/call_splitter.h"

#include <fcntl.h>

#include <algorithm>

#include "runner/decode/func_class.h"
#include "runner/decode/limits.h"
#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/file_op_table.h"
#include "runner/trace/kernel/kernel_moments.h"

namespace mlrun::trace {

namespace {

constexpr uint32_t kMetadata = MLRUN_BLOCK_META | MLRUN_BLOCK_DEVICE_INODE | MLRUN_BLOCK_METADATA_WRITE;

bool moves_data(std::optional<mlrun_call_class> call_class) {
  if (!call_class) return false;
  return *call_class == MLRUN_CLASS_READ || *call_class == MLRUN_CLASS_WRITE || *call_class == MLRUN_CLASS_COPY;
}

bool moves_data(uint32_t op) {
  return op == MLRUN_FILE_READ || op == MLRUN_FILE_WRITE || op == MLRUN_FILE_SPLICE_READ ||
         op == MLRUN_FILE_SPLICE_WRITE || op == MLRUN_FILE_FAULT;
}

int64_t at_most_int64(uint64_t value) { return value > INT64_MAX ? -1 : static_cast<int64_t>(value); }

}  // namespace

CallSplitter::CallSplitter(const KernelWindow& window, const model::FileTable& files) : window_(window) {
  for (const model::FileRow& file : files) {
    files_.push_back({kernel_device(static_cast<uint64_t>(file.dev)), static_cast<uint64_t>(file.ino)});
  }
}

CallSplitter::Asked CallSplitter::what_was_asked(const model::CallRow& row) {
  Asked asked;
  asked.from_ns = row.origin.ts_ns;
  asked.to_ns = row.origin.ts_ns + std::max<int64_t>(row.dur_ns, 0);
  asked.tid = row.origin.tid;
  if (row.file_id > 0 && static_cast<size_t>(row.file_id) <= files_.size()) {
    asked.file = files_[static_cast<size_t>(row.file_id - 1)];
  }
  const std::optional<mlrun_call_class> call_class = decode::class_of_func(row.func);
  if (call_class == MLRUN_CLASS_OPEN && row.err == 0 && (row.flags & O_DSYNC) != 0) written_through_.insert(row.ofd_id);
  asked.syncs = call_class == MLRUN_CLASS_SYNC ||
                (call_class == MLRUN_CLASS_WRITE && row.ofd_id != 0 && written_through_.contains(row.ofd_id));
  if (moves_data(call_class)) asked.set_range(row.offset, std::max(row.requested, row.ret));
  return asked;
}

CallSplitter::Asked CallSplitter::what_was_asked(const FileOpRow& row, bool syncs) {
  const mlrun_file_op& record = row.record;
  Asked asked;
  asked.from_ns = row.ts_ns;
  asked.to_ns = row.done ? std::max(row.done->time_ns, row.ts_ns) : row.end_ns;
  asked.tid = row.origin.tid;
  asked.file = {record.device, record.inode};
  asked.syncs = syncs || record.op == MLRUN_FILE_SYNC;
  if (moves_data(record.op)) {
    asked.set_range(at_most_int64(record.offset),
                    std::max(at_most_int64(record.requested), static_cast<int64_t>(record.result)));
  }
  if (row.done) asked.handed_in = record.operation;
  return asked;
}

void CallSplitter::Asked::set_range(int64_t offset, int64_t bytes) {
  if (offset < 0 || bytes <= 0 || bytes > INT64_MAX - offset - kPageBytes) return;
  begin = offset / kPageBytes * kPageBytes;
  end = (offset + bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Adds the times when the thread was off CPU. Returns whether it slept.
bool CallSplitter::add_waits(const Asked& asked) {
  bool slept = false;
  window_.waits(asked.tid, asked.from_ns, asked.to_ns, [&](const ThreadWait& wait) {
    const int64_t ready_ns = wait.asleep ? wait.wake_ns : wait.off_ns;
    sweep_.add(Span::kReady, ready_ns, wait.on_ns);
    sweep_.add(wait.throttled ? Span::kThrottled : Span::kAsleep, wait.off_ns, ready_ns);
    slept = slept || ready_ns > wait.off_ns;
  });
  return slept;
}

void CallSplitter::add(Span on_device, const FragmentSpan& fragment, int64_t from_ns, int64_t to_ns) {
  sweep_.add(Span::kQueue, std::max(from_ns, fragment.queued_at_ns), std::min(to_ns, fragment.issued_at_ns));
  sweep_.add(on_device, std::max(from_ns, fragment.issued_at_ns), std::min(to_ns, fragment.done_ns));
}

void CallSplitter::add_link(const Asked& asked, const ThreadWait& wait) {
  const RequestSpan* request = window_.request(wait.request);
  if (request == nullptr) return;
  bool own = asked.syncs;
  if (const FragmentList* list = window_.of_thread(asked.tid)) {
    list->queued_within(asked.from_ns, asked.to_ns,
                        [&](const FragmentSpan& fragment) { own = own || fragment.request == wait.request; });
  }
  FragmentSpan span{};
  span.queued_at_ns = request->queued_at_ns;
  span.issued_at_ns = request->issued_at_ns;
  span.done_ns = request->done_ns;
  add(own ? Span::kDevice : Span::kSharedDevice, span, wait.off_ns, wait.wake_ns);
}

// The file system for calls whose record names none (msync; sync, which is for all): the one that the thread queued
// writes to meanwhile.
uint32_t CallSplitter::device_written_to(const Asked& asked) const {
  uint32_t device = 0;
  if (const FragmentList* own = window_.of_thread(asked.tid)) {
    own->queued_within(asked.from_ns, asked.to_ns, [&](const FragmentSpan& fragment) {
      const bool writes = fragment.op == MLRUN_BLOCK_WRITE || fragment.op == MLRUN_BLOCK_FLUSH;
      if (device == 0 && writes) device = fragment.file_device;
    });
  }
  return device;
}

void CallSplitter::add_fragments(const Asked& asked) {
  const FragmentList* own = window_.of_thread(asked.tid);
  if (own != nullptr) {
    own->queued_within(asked.from_ns, asked.to_ns, [&](const FragmentSpan& fragment) {
      const bool of_another_kind = (fragment.flags & (kMetadata | MLRUN_BLOCK_ANONYMOUS)) != 0;
      if (!asked.has_range() || asked.syncs || of_another_kind || asked.overlaps(fragment)) {
        add(Span::kDevice, fragment, asked.from_ns, asked.to_ns);
      }
    });
  }
  window_.waits(asked.tid, asked.from_ns, asked.to_ns, [&](const ThreadWait& wait) {
    if (wait.submitting) {
      sweep_.add(Span::kSubmitting, wait.off_ns, wait.wake_ns);
      if (own == nullptr) return;
      own->queued_within(asked.from_ns, asked.to_ns, [&](const FragmentSpan& fragment) {
        add(Span::kDevice, fragment, wait.off_ns, wait.wake_ns);
      });
    } else if (wait.request != 0) {
      add_link(asked, wait);
    }
  });
  add_parts_of_file(asked);
}

// Adds the fragments of the same file range, queued by any thread, and those that a sync waits for.
void CallSplitter::add_parts_of_file(const Asked& asked) {
  if (const FragmentList* same = asked.has_range() ? window_.of_inode(asked.file.device, asked.file.inode) : nullptr) {
    same->under_way_within(asked.from_ns, asked.to_ns, [&](const FragmentSpan& fragment) {
      if (asked.overlaps(fragment)) add(Span::kSharedDevice, fragment, asked.from_ns, asked.to_ns);
    });
  }
  if (!asked.syncs) return;
  window_.syncing(asked.file.device, asked.from_ns, asked.to_ns, [&](const FragmentSpan& fragment) {
    const bool of_file = asked.file.inode == 0 || fragment.inode == asked.file.inode;
    if (fragment.op == MLRUN_BLOCK_FLUSH || (fragment.flags & kMetadata) != 0 || of_file) {
      add(Span::kDevice, fragment, asked.from_ns, asked.to_ns);
    }
  });
}

void CallSplitter::add_remote_requests(const Asked& asked) {
  const auto add_request = [&](const FragmentSpan& span) {
    sweep_.add(Span::kRemote, span.queued_at_ns, span.done_ns);
  };
  if (const FragmentList* own = window_.remote_of_thread(asked.tid)) {
    own->queued_within(asked.from_ns, asked.to_ns, add_request);
  }
  if (const FragmentList* same = window_.remote_of_inode(asked.file.device, asked.file.inode)) {
    same->under_way_within(asked.from_ns, asked.to_ns, add_request);
  }
}

void CallSplitter::add_handed_in(const Asked& asked) {
  sweep_.add(Span::kAsleep, asked.from_ns, asked.to_ns);
  if (const FragmentList* own = window_.of_thread(asked.tid)) {
    own->queued_within(asked.from_ns, asked.to_ns, [&](const FragmentSpan& fragment) {
      if (fragment.operation == asked.handed_in) add(Span::kDevice, fragment, asked.from_ns, asked.to_ns);
    });
  }
  add_parts_of_file(asked);
  if (const FragmentList* same = window_.remote_of_inode(asked.file.device, asked.file.inode)) {
    same->under_way_within(asked.from_ns, asked.to_ns, [&](const FragmentSpan& span) {
      sweep_.add(Span::kRemote, span.queued_at_ns, span.done_ns);
    });
  }
}

std::optional<model::CallSplit> CallSplitter::split(const FileOpRow& row, bool syncs) {
  if ((row.record.flags & MLRUN_FILE_LATER) != 0 && !row.done) return std::nullopt;
  const Asked asked = what_was_asked(row, syncs);
  if (!window_.knows(asked.from_ns, asked.to_ns)) return std::nullopt;
  sweep_.begin(asked.from_ns, asked.to_ns);
  sweep_.add(Span::kOperation, asked.from_ns, asked.to_ns);
  if (asked.handed_in != 0) {
    add_handed_in(asked);
  } else if (add_waits(asked)) {
    add_fragments(asked);
    add_remote_requests(asked);
  }
  return sweep_.finish();
}

std::optional<model::CallSplit> CallSplitter::split(const model::CallRow& row) {
  Asked asked = what_was_asked(row);
  if (!window_.knows(asked.from_ns, asked.to_ns)) return std::nullopt;
  if (asked.syncs && asked.file.device == 0) asked.file.device = device_written_to(asked);
  sweep_.begin(asked.from_ns, asked.to_ns);
  window_.file_ops(asked.tid, asked.from_ns, asked.to_ns,
                   [&](const FileOpSpan& span) { sweep_.add(Span::kOperation, span.from_ns, span.to_ns); });
  if (add_waits(asked)) {
    add_fragments(asked);
    add_remote_requests(asked);
  }
  return sweep_.finish();
}

}  // namespace mlrun::trace
