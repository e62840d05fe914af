// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/kernel_tables.h"

#include <algorithm>
#include <string_view>

#include "runner/trace/files/device_number.h"
#include "runner/trace/kernel/block_status.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

constexpr uint64_t kNoSector = ~uint64_t{0};

std::vector<std::string> op_names() {
  return {"read", "write", "flush", "discard", "secure erase", "write zeroes", "zone", "other"};
}
size_t op_index(uint32_t op) { return std::min<size_t>(op, MLRUN_BLOCK_OTHER); }

std::string comm_text(const char (&comm)[MLRUN_KERNEL_COMM]) {
  const std::string_view all(comm, sizeof comm);
  return util::escaped_utf8(all.substr(0, all.find('\0')));
}

int64_t sector_of(uint64_t sector) { return sector == kNoSector ? -1 : static_cast<int64_t>(sector); }

// The kernel's task states; a waiting thread has exactly one of these. Other bits are details.
std::vector<std::string> state_names() { return {"running", "interruptible", "uninterruptible", "other"}; }
size_t state_index(uint32_t state) {
  constexpr uint32_t kInterruptible = 1, kUninterruptible = 2;
  if (state == 0) return 0;
  if ((state & kInterruptible) != 0) return 1;
  return (state & kUninterruptible) != 0 ? 2 : 3;
}

}  // namespace

OwnerColumns::OwnerColumns(ParquetTable& table)
    : proc_id(table.optional_int32("proc_id")),
      image_id(table.optional_int32("image_id")),
      thread_id(table.optional_int32("thread_id")),
      pid(table.int32("pid")),
      tid(table.int32("tid")) {}

void OwnerColumns::add(const model::Origin& origin) {
  proc_id.add_unless(0, origin.proc_id);
  image_id.add_unless(0, origin.image_id);
  thread_id.add_unless(0, origin.thread_id);
  pid.add(origin.pid);
  tid.add(origin.tid);
}

SpanColumns::SpanColumns(ParquetTable& table)
    : end_min(table.int64("end_min")),
      end_max(table.int64("end_max")),
      ts(table.int64("ts", Encoding::kDelta)),
      dur(table.int64("dur", Encoding::kSplit)) {}

void SpanColumns::add(int64_t ts_ns, int64_t end_ns, const GroupEnds& ends) {
  end_min.add(ends.min_ns);
  end_max.add(ends.max_ns);
  ts.add(ts_ns);
  dur.add(end_ns - ts_ns);
}

RequestTable::RequestTable()
    : table_("block"),
      span_(table_),
      req_id_(table_.int64("req_id", Encoding::kDelta)),
      ts_insert_(table_.optional_int64("ts_insert", Encoding::kDelta)),
      ts_issue_(table_.optional_int64("ts_issue", Encoding::kDelta)),
      ts_done_(table_.int64("ts_done", Encoding::kDelta)),
      dev_(table_.int64("dev")),
      sector_(table_.optional_int64("sector", Encoding::kSplit)),
      bytes_(table_.int64("bytes")),
      op_(table_.label("op", op_names())),
      flags_(table_.int32("flags")),
      err_(table_.int32("err")),
      issues_(table_.int32("issues")),
      parts_(table_.int32("parts")),
      done_pid_(table_.int32("done_pid")),
      done_tid_(table_.int32("done_tid")),
      cpu_(table_.int32("cpu")),
      done_comm_(table_.text("done_comm")) {}

void RequestTable::add(const RequestRow& row, const GroupEnds& ends) {
  const mlrun_block_request& record = row.record;
  span_.add(row.ts_ns, row.end_ns, ends);
  req_id_.add(static_cast<int64_t>(record.request));
  ts_insert_.add_unless(0, static_cast<int64_t>(record.inserted_at_ns));
  ts_issue_.add_unless(0, static_cast<int64_t>(record.issued_at_ns));
  ts_done_.add(row.end_ns);
  dev_.add(stat_device(record.device));
  sector_.add_unless(-1, record.op == MLRUN_BLOCK_FLUSH ? -1 : sector_of(record.sector));
  bytes_.add(record.bytes);
  op_.add(op_index(record.op));
  flags_.add(static_cast<int32_t>(record.flags));
  err_.add(block_errno(record.error));
  issues_.add(static_cast<int32_t>(record.issues));
  parts_.add(static_cast<int32_t>(record.parts));
  done_pid_.add(static_cast<int32_t>(record.head.pid));
  done_tid_.add(static_cast<int32_t>(record.head.tid));
  cpu_.add(static_cast<int32_t>(record.head.cpu));
  done_comm_.add(comm_text(record.comm));
  table_.row_added();
}

PartTable::PartTable()
    : table_("block_part"),
      span_(table_),
      owner_(table_),
      comm_(table_.text("comm")),
      req_id_(table_.optional_int64("req_id", Encoding::kDelta)),
      op_id_(table_.optional_int64("op_id", Encoding::kDelta)),
      call_id_(table_.optional_int64("call_id", Encoding::kDelta)),
      dev_(table_.int64("dev")),
      fs_dev_(table_.int64("fs_dev")),
      ino_(table_.optional_int64("ino")),
      file_id_(table_.optional_int64("file_id")),
      bio_lo_(table_.optional_int64("bio_lo", Encoding::kSplit)),
      bio_hi_(table_.optional_int64("bio_hi", Encoding::kSplit)),
      sector_(table_.optional_int64("sector", Encoding::kSplit)),
      bytes_(table_.int64("bytes")),
      op_(table_.label("op", op_names())),
      flags_(table_.int32("flags")),
      ts_issue_(table_.optional_int64("ts_issue", Encoding::kDelta)),
      cgroup_id_(table_.optional_int64("cgroup_id")) {}

void PartTable::add(const PartRow& row, const GroupEnds& ends) {
  const mlrun_block_part& record = row.record;
  const bool has_pages = record.file_end != 0;
  span_.add(row.ts_ns, row.end_ns, ends);
  owner_.add(row.origin);
  comm_.add(comm_text(record.comm));
  req_id_.add_unless(0, static_cast<int64_t>(record.request));
  op_id_.add_unless(0, static_cast<int64_t>(record.operation));
  call_id_.add_unless(0, row.call_id);
  dev_.add(stat_device(record.device));
  fs_dev_.add(stat_device(record.file_device));
  has_pages ? ino_.add(static_cast<int64_t>(record.inode)) : ino_.add_null();
  file_id_.add_unless(0, row.file_id);
  has_pages ? bio_lo_.add(static_cast<int64_t>(record.file_begin)) : bio_lo_.add_null();
  has_pages ? bio_hi_.add(static_cast<int64_t>(record.file_end)) : bio_hi_.add_null();
  sector_.add_unless(-1, record.request == 0 ? -1 : sector_of(record.sector));
  bytes_.add(record.bytes);
  op_.add(op_index(record.op));
  flags_.add(static_cast<int32_t>(record.flags));
  ts_issue_.add_unless(0, static_cast<int64_t>(record.issued_at_ns));
  cgroup_id_.add_unless(0, static_cast<int64_t>(record.cgroup));
  table_.row_added();
}

WaitTable::WaitTable()
    : table_("wait"),
      span_(table_),
      owner_(table_),
      ts_wake_(table_.optional_int64("ts_wake", Encoding::kDelta)),
      runq_ns_(table_.int64("runq_ns", Encoding::kSplit)),
      state_(table_.label("state", state_names())),
      preempted_(table_.boolean("preempted")),
      in_iowait_(table_.boolean("in_iowait")),
      submitting_(table_.boolean("submitting")),
      early_(table_.boolean("early")),
      wake_lost_(table_.boolean("wake_lost")),
      throttled_(table_.boolean("throttled")),
      op_id_(table_.optional_int64("op_id", Encoding::kDelta)),
      waker_tid_(table_.optional_int32("waker_tid")),
      cpu_(table_.int32("cpu")),
      waker_req_(table_.optional_int64("waker_req", Encoding::kDelta)),
      waker_age_(table_.optional_int64("waker_age_ns", Encoding::kSplit)) {}

void WaitTable::add(const WaitRow& row, const GroupEnds& ends) {
  const mlrun_wait& record = row.record;
  const auto wake_ns = std::clamp(static_cast<int64_t>(record.wake_ns), row.ts_ns, row.end_ns);
  const bool linked = record.waker_request != 0;
  span_.add(row.ts_ns, row.end_ns, ends);
  owner_.add(row.origin);
  record.state == 0 ? ts_wake_.add_null() : ts_wake_.add(wake_ns);
  runq_ns_.add(row.end_ns - wake_ns);
  state_.add(state_index(record.state));
  preempted_.add((record.flags & MLRUN_WAIT_PREEMPTED) != 0);
  in_iowait_.add((record.flags & MLRUN_WAIT_IO) != 0);
  submitting_.add((record.flags & MLRUN_WAIT_SUBMITTING) != 0);
  early_.add((record.flags & MLRUN_WAIT_EARLY) != 0);
  wake_lost_.add((record.flags & MLRUN_WAIT_LOST_WAKE) != 0);
  throttled_.add((record.flags & MLRUN_WAIT_THROTTLED) != 0);
  op_id_.add_unless(0, static_cast<int64_t>(record.operation));
  waker_tid_.add_unless(0, static_cast<int32_t>(record.waker_tid));
  cpu_.add(static_cast<int32_t>(record.head.cpu));
  linked ? waker_req_.add(static_cast<int64_t>(record.waker_request)) : waker_req_.add_null();
  linked ? waker_age_.add(record.waker_age_ns) : waker_age_.add_null();
  table_.row_added();
}

}  // namespace mlrun::trace
