// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/process_counters.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "runner/samplers/machine/differences.h"
#include "runner/samplers/proc/kernel_texts.h"

namespace mlrun::machine {

namespace {

constexpr bool is_value_of_now(size_t field) { return field >= MLRUN_PROCESS_THREADS; }

int64_t page_bytes() {
  static const int64_t kPageBytes = ::sysconf(_SC_PAGESIZE);
  return kPageBytes;
}

}  // namespace

ProcessCounters::ProcessCounters(const Places& places, uint32_t pid, uint32_t tid, uint32_t files)
    : folder_(tid == 0 ? fmt::format("{}/{}/", places.proc, pid)
                       : fmt::format("{}/{}/task/{}/", places.proc, pid, tid)),
      pid_(pid),
      tid_(tid) {
  if (files >= 1) first_ = proc::ProcFile(path(tid == 0 ? "statm" : "schedstat"));
  if (files >= 2) stat_ = proc::ProcFile(path("stat"));
  if (files >= 3) io_ = proc::ProcFile(path("io"));
}

uint32_t ProcessCounters::descriptors() const {
  return static_cast<uint32_t>(first_.is_open()) + static_cast<uint32_t>(stat_.is_open()) +
         static_cast<uint32_t>(io_.is_open());
}

std::string ProcessCounters::path(const char* name) const { return folder_ + name; }

std::string_view ProcessCounters::read(const proc::ProcFile& file, const char* name, Reading& reading) const {
  static thread_local std::vector<char> room;  // shared by all processes: nearly all texts are short
  if (file.is_open()) return file.read(room);
  const proc::ProcFile opened(path(name));
  reading.is_refused = reading.is_refused || opened.is_refused();
  return opened.read(room);
}

// Reads schedstat. A kernel that does not count these times reports three zeros.
bool ProcessCounters::read_turns(Reading& reading) const {
  proc::Numbers numbers(read(first_, "schedstat", reading));
  uint64_t run_ns = 0, runq_ns = 0;
  if (!numbers.next(run_ns) || !numbers.next(runq_ns) || !numbers.next(reading.turns)) return false;
  if (run_ns == 0 && reading.turns == 0) return false;
  reading.values[MLRUN_PROCESS_RUN_NS] = static_cast<int64_t>(run_ns);
  reading.values[MLRUN_PROCESS_RUNQ_NS] = static_cast<int64_t>(runq_ns);
  return true;
}

// The numbers of a zombie are final; so are those of a main thread that has ended before the other threads.
bool ProcessCounters::read_stat(Reading& reading) {
  Values& values = reading.values;
  const auto line = proc::parse_stat(read(stat_, "stat", reading));
  if (!line || line->state == 'X' || (sampled_ns_ != 0 && line->start_ticks != start_ticks_)) return false;
  state_ = line->state;
  start_ticks_ = line->start_ticks;
  threads_ = line->threads;
  comm_.fill(0);
  std::memcpy(comm_.data(), line->comm.data(), std::min(line->comm.size(), comm_.size()));
  const auto ns = [](uint64_t ticks) { return static_cast<int64_t>(ticks * proc::tick_ns()); };
  values[MLRUN_PROCESS_USER_NS] = ns(line->user_ticks);
  values[MLRUN_PROCESS_SYSTEM_NS] = ns(line->system_ticks);
  values[MLRUN_PROCESS_MINOR_FAULTS] = static_cast<int64_t>(line->minflt);
  values[MLRUN_PROCESS_MAJOR_FAULTS] = static_cast<int64_t>(line->majflt);
  values[MLRUN_PROCESS_PROCESSOR] = static_cast<int64_t>(line->processor);
  if (tid_ == 0) values[MLRUN_PROCESS_THREADS] = static_cast<int64_t>(line->threads);
  return true;
}

void ProcessCounters::read_switches(Reading& reading) const {
  const std::string_view text = read({}, "status", reading);
  uint64_t value = 0;
  if (proc::number_after(text, "voluntary_ctxt_switches:", value))
    reading.values[MLRUN_PROCESS_VOLUNTARY_SWITCHES] = static_cast<int64_t>(value);
  if (proc::number_after(text, "nonvoluntary_ctxt_switches:", value))
    reading.values[MLRUN_PROCESS_INVOLUNTARY_SWITCHES] = static_cast<int64_t>(value);
}

// size resident shared ..., in pages. The kernel counts resident pages per thread and adds them up in steps: some
// hundred KiB may be missing for a moment.
void ProcessCounters::read_memory(Reading& reading) {
  Values& values = reading.values;
  proc::Numbers numbers(read(first_, "statm", reading));
  uint64_t size = 0, resident = 0, shared = 0;
  if (!numbers.next(size) || !numbers.next(resident) || !numbers.next(shared)) return;
  if (resident == 0) return;  // it has ended: not known any more
  values[MLRUN_PROCESS_RSS_BYTES] = static_cast<int64_t>(resident) * page_bytes();
  values[MLRUN_PROCESS_SHARED_BYTES] = static_cast<int64_t>(shared) * page_bytes();
  if (!wants_share_) return;
  wants_share_ = false;
  uint64_t kib = 0;
  if (proc::number_after(read({}, "smaps_rollup", reading), "Pss:", kib))
    values[MLRUN_PROCESS_PSS_BYTES] = static_cast<int64_t>(kib) * 1024;
}

// io needs the right to read the process's memory. If it cannot be read once, it is not read again.
void ProcessCounters::read_io(Reading& reading) {
  if (!reads_io_) return;
  const std::string_view text = read(io_, "io", reading);
  reads_io_ = reading.is_refused || !text.empty();
  constexpr std::pair<const char*, mlrun_process_field> kLines[] = {
      {"rchar:", MLRUN_PROCESS_READ_CHARS},
      {"wchar:", MLRUN_PROCESS_WRITTEN_CHARS},
      {"syscr:", MLRUN_PROCESS_READ_CALLS},
      {"syscw:", MLRUN_PROCESS_WRITE_CALLS},
      {"read_bytes:", MLRUN_PROCESS_READ_BYTES},
      {"write_bytes:", MLRUN_PROCESS_WRITTEN_BYTES},
      {"cancelled_write_bytes:", MLRUN_PROCESS_CANCELLED_BYTES}};
  for (const auto& [key, field] : kLines) {
    uint64_t value = 0;
    if (proc::number_after(text, key, value)) reading.values[field] = static_cast<int64_t>(value);
  }
}

void ProcessCounters::add_row(uint64_t end_ns, const Values& now, Batch& batch) {
  mlrun_process_sample row{};
  row.monotonic_ns = end_ns;
  row.interval_ns = end_ns - std::min(row_end_ns_, end_ns);
  row.host_pid = pid_;
  row.host_tid = tid_;
  row.state = static_cast<unsigned char>(state_);
  row.is_first = is_first_ ? 1 : 0;
  std::memcpy(row.comm, comm_.data(), sizeof row.comm);
  for (size_t i = 0; i < now.size(); ++i)
    row.values[i] = increase(is_value_of_now(i) ? Counts::kNow : Counts::kUp, before_[i], now[i]);
  batch.add(MLRUN_SAMPLE_PROCESS, row);
  is_first_ = false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] != MLRUN_NOT_KNOWN) before_[i] = now[i];
  }
  row_end_ns_ = end_ns;
}

// schedstat is read first: if it is the same at the next sample, the thread has not run since a moment before its other
// numbers were read.
ProcessCounters::Seen ProcessCounters::sample(uint64_t now_ns, Batch& batch) {
  Reading reading;
  Values& values = reading.values;
  values.fill(MLRUN_NOT_KNOWN);
  const bool has_turns = tid_ != 0 && read_turns(reading);
  constexpr uint64_t kAllNs = 1'000'000'000;
  const bool slept = state_ == 'S' || state_ == 'D' || state_ == 'Z';
  const bool same = reading.turns == turns_ && values[MLRUN_PROCESS_RUN_NS] == last_[MLRUN_PROCESS_RUN_NS];
  const bool rests = sampled_ns_ != 0 && has_turns && slept && same;
  if (rests && !is_stale_) {
    keep(now_ns);
    if (now_ns - row_end_ns_ >= kHeldNs) finish(batch);
    return Seen::kAsleep;
  }
  finish(batch);  // before the new state is read: a row has the state at its end
  if (!read_stat(reading)) return reading.is_refused ? Seen::kUnseen : Seen::kGone;
  const bool reads_all = sampled_ns_ == 0 || rests || now_ns - all_read_ns_ >= kAllNs;
  const bool is_stale = tid_ != 0 && !reads_all;
  if (tid_ == 0) read_memory(reading);
  if (tid_ != 0 && reads_all) read_switches(reading);
  if (!is_stale) read_io(reading);
  if (reading.is_refused) return Seen::kUnseen;
  turns_ = reading.turns;
  is_stale_ = is_stale;
  if (reads_all) all_read_ns_ = now_ns;
  if (sampled_ns_ == 0) row_end_ns_ = std::min(proc::monotonic_of_ticks(start_ticks_), now_ns);
  add_row(now_ns, values, batch);
  last_ = values;
  last_[MLRUN_PROCESS_PSS_BYTES] = MLRUN_NOT_KNOWN;  // valid only at the time of that reading
  sampled_ns_ = now_ns;
  return Seen::kRan;
}

void ProcessCounters::finish(Batch& batch) {
  if (sampled_ns_ > row_end_ns_) add_row(sampled_ns_, last_, batch);
}

}  // namespace mlrun::machine
