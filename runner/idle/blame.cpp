// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/blame.h"

#include <algorithm>

namespace mlrun::idle {

namespace {

using model::IdleLabel;
using model::IdleLink;
using model::IdleProof;

constexpr int32_t kHopsMax = 4;
constexpr int kAnswersMax = 64;               // maximum socket messages that are checked for an answer
constexpr int64_t kReadsSoonNs = 10'000'000;  // a poll waited for the call that follows it within this time

bool is_empty(const Stretch& part) { return part.end_ns <= part.start_ns; }

Stretch common(const Stretch& a, const Stretch& b) {
  return {std::max(a.start_ns, b.start_ns), std::min(a.end_ns, b.end_ns)};
}

// The first element that ends after `ns`. Requires: the elements are in order and do not overlap.
template <typename T>
typename std::vector<T>::const_iterator first_after(const std::vector<T>& list, int64_t ns) {
  return std::partition_point(list.begin(), list.end(), [ns](const T& one) { return one.end_ns <= ns; });
}

// Last time up to `moment_ns` at which a thread was active. `last`: its last call that began before `moment_ns`.
int64_t last_active_ns(const Activity& last, int64_t moment_ns) {
  if (last.end_ns <= moment_ns) return last.end_ns;
  return last.doing == Doing::kFile ? moment_ns : last.start_ns;
}

// The time split of a part of a call: each label gets its proportional share, and own_ns the rounding remainder.
model::CallSplit share_of(const model::CallSplit& split, int64_t part_ns, int64_t call_ns) {
  if (part_ns == call_ns) return split;
  const auto scaled = [&](int64_t ns) {
    return static_cast<int64_t>(static_cast<double>(ns) * static_cast<double>(part_ns) / static_cast<double>(call_ns));
  };
  model::CallSplit share;
  share.runq_ns = scaled(split.runq_ns);
  share.vfs_ns = scaled(split.vfs_ns);
  share.queue_ns = scaled(split.queue_ns);
  share.device_ns = scaled(split.device_ns);
  share.remote_ns = scaled(split.remote_ns);
  share.wait_ns = scaled(split.wait_ns);
  share.own_ns = part_ns - share.sum();
  return share;
}

// Divides `part` by the list: calls, in order of time, `inside(one, piece)` for pieces that an element covers, and
// `outside(piece)` for pieces that none covers.
template <typename T, typename Inside, typename Outside>
void divide(const std::vector<T>& list, Stretch part, Inside inside, Outside outside) {
  int64_t done_ns = part.start_ns;
  for (auto one = first_after(list, part.start_ns); one != list.end() && one->start_ns < part.end_ns; ++one) {
    const Stretch within = common(*one, {done_ns, part.end_ns});
    if (is_empty(within)) continue;
    if (within.start_ns > done_ns) outside(Stretch{done_ns, within.start_ns});
    inside(*one, within);
    done_ns = within.end_ns;
  }
  if (done_ns < part.end_ns) outside(Stretch{done_ns, part.end_ns});
}

}  // namespace

Blame::Blame(const model::TraceInfo& info, const Activities& activities, bool waits_are_known)
    : info_(info), activities_(activities), waits_are_known_(waits_are_known) {
  for (const model::ThreadRow& thread : info_.threads) {
    threads_[thread.thread_id] = &thread;
    by_tid_.add(thread.tid, {thread.first_ns, thread.last_ns, thread.proc_id, thread.thread_id});
    of_process_[thread.proc_id].push_back(thread.thread_id);
  }
}

std::vector<model::IdleRow> Blame::pieces(const Gap& gap, Stretch part, const std::vector<Stretch>& talks) {
  gap_ = &gap;
  rows_.clear();
  divide(
      talks, part,
      [&](const Stretch& talk, Stretch within) {
        prove(put(IdleLabel::kCommunication, {}, within), IdleProof::kGpuKernel, talk);
      },
      [&](Stretch within) { before_launch(within); });
  return std::move(rows_);
}

void Blame::before_launch(Stretch part) {
  const Who owner{gap_->thread_id, 0, IdleLink::kNone, 0};
  const int64_t launch_ns = gap_->launch_ns == 0 ? part.end_ns : gap_->launch_ns;
  const Stretch before = common(part, {part.start_ns, launch_ns}), after = common(part, {launch_ns, part.end_ns});
  if (!is_empty(before)) blame(owner, before);
  if (!is_empty(after)) prove(put(IdleLabel::kLaunch, owner, after), IdleProof::kGpuApi, {launch_ns, launch_ns});
}

void Blame::blame(const Who& who, Stretch part) {
  if (who.thread_id == 0) {
    put(IdleLabel::kUnknown, who, part);
    return;
  }
  divide(
      activities_.calls(who.thread_id), part, [&](const Activity& call, Stretch within) { in_call(who, call, within); },
      [&](Stretch within) { outside_of_calls(who, within); });
}

void Blame::outside_of_calls(const Who& who, Stretch part) {
  divide(
      activities_.gpu_files(who.thread_id), part,
      [&](const Activity& call, Stretch within) {
        model::IdleRow& row = put(IdleLabel::kFile, who, within);
        row.file_id = call.file_id;
        prove(row, IdleProof::kGpuFile, call);
      },
      [&](Stretch within) { in_cuda_or_not(who, within); });
}

void Blame::in_cuda_or_not(const Who& who, Stretch part) {
  divide(
      activities_.cuda(who.thread_id), part,
      [&](const Activity& call, Stretch within) {
        const IdleLabel label = call.doing == Doing::kSync ? IdleLabel::kSync : IdleLabel::kCuda;
        prove(put(label, who, within), IdleProof::kGpuApi, call);
      },
      [&](Stretch within) { asleep_or_not(who, within); });
}

void Blame::asleep_or_not(const Who& who, Stretch part) {
  const IdleLabel busy = waits_are_known_ ? IdleLabel::kCpu : IdleLabel::kUnknown;
  if (!threads_.contains(who.thread_id)) {
    put(IdleLabel::kUnknown, who, part);
    return;
  }
  divide(
      activities_.sleeps(who.thread_id), part,
      [&](const Sleep& sleep, Stretch within) {
        const Stretch asleep = common(within, {sleep.start_ns, sleep.wake_ns});
        const Stretch queued = common(within, {sleep.wake_ns, sleep.end_ns});
        if (!is_empty(asleep)) prove(put(IdleLabel::kWait, who, asleep), IdleProof::kWait, sleep);
        if (!is_empty(queued)) prove(put(IdleLabel::kRunQueue, who, queued), IdleProof::kWait, sleep);
      },
      [&](Stretch within) { put(busy, who, within); });
}

void Blame::in_call(const Who& who, const Activity& call, Stretch part) {
  if (call.doing == Doing::kFile) {
    model::IdleRow& row = put(IdleLabel::kFile, who, part);
    row.call_id = call.call_id;
    row.file_id = call.file_id;
    prove(row, IdleProof::kCall, call);
    if (const model::CallSplit* split = activities_.split(call)) {
      row.split = share_of(*split, part.end_ns - part.start_ns, call.end_ns - call.start_ns);
    }
    return;
  }
  Who to = find_writer(who, call);
  if (to.thread_id == 0) to = find_waker(who, call);
  if (to.thread_id == 0 && call.doing == Doing::kLock) to = find_neighbour(who, call);
  if (to.thread_id == 0) to = find_answer(who, call);
  follow(who, to, call, part);
}

void Blame::follow(const Who& who, const Who& next, const Activity& call, Stretch part) {
  if (next.thread_id != 0 && next.thread_id != who.thread_id && who.hops < kHopsMax) {
    Who to = next;
    to.first_call_id = who.hops == 0 ? call.call_id : who.first_call_id;
    return blame(to, part);
  }
  model::IdleRow& row = put(IdleLabel::kWait, who, part);
  row.call_id = call.call_id;
  row.func = call.func;
  row.file_id = call.file_id;
  prove(row, IdleProof::kCall, call);
}

// The call that received the data that the thread waited for: `call` itself or, if that is a poll, the first call after it
// that is not a poll. nullptr: neither.
const Activity* Blame::read_after(const Who& who, const Activity& call) const {
  if (call.doing == Doing::kChannel) return &call;
  if (call.doing != Doing::kPoll) return nullptr;
  const auto& calls = activities_.calls(who.thread_id);
  auto at = first_after(calls, call.start_ns);
  for (int64_t end_ns = call.end_ns; at != calls.end() && at->start_ns - end_ns < kReadsSoonNs; ++at) {
    if (at->doing != Doing::kPoll) return &*at;
    end_ns = std::max(end_ns, at->end_ns);
  }
  return nullptr;
}

// The thread that wrote, during the wait, into the pipe or socket that the waiting thread read then or next. The first
// write that began during the wait ended it; one that began before may have sent the previous message.
Blame::Who Blame::find_writer(const Who& who, const Activity& call) const {
  const Activity* read = read_after(who, call);
  if (!read || read->writes) return {};
  const auto& messages = activities_.messages(read->file_id);
  auto after = std::partition_point(messages.begin(), messages.end(),
                                    [&](const Message& message) { return message.start_ns <= read->end_ns; });
  int32_t writer = 0;
  while (after != messages.begin()) {
    --after;
    const bool is_old = after->start_ns < call.start_ns;
    if (after->end_ns < call.start_ns || (is_old && writer != 0)) break;
    if (after->thread_id != who.thread_id) writer = after->thread_id;
  }
  return writer == 0 ? Who{} : Who{writer, who.hops + 1, IdleLink::kPipe, 0};
}

Blame::Who Blame::find_waker(const Who& who, const Activity& call) const {
  const auto& sleeps = activities_.sleeps(who.thread_id);
  Who found;
  for (auto sleep = first_after(sleeps, call.start_ns); sleep != sleeps.end() && sleep->start_ns < call.end_ns;
       ++sleep) {
    const int32_t waker = by_tid_.find(sleep->waker_tid, sleep->wake_ns);
    if (waker != 0) found = {waker, who.hops + 1, IdleLink::kWaker, 0};  // the last waker counts
  }
  return found;
}

// The other thread of the process that was last active before the wait's end (in a call on a file, at the end of any
// call, or at the start of a wait). If no activity is known, the process's first other thread.
Blame::Who Blame::find_neighbour(const Who& who, const Activity& call) const {
  const auto thread = threads_.find(who.thread_id);
  if (thread == threads_.end()) return {};
  int32_t best = 0;
  int64_t latest_ns = INT64_MIN;
  for (const int32_t other : of_process_.at(thread->second->proc_id)) {
    if (other == who.thread_id) continue;
    const auto& calls = activities_.calls(other);
    const auto after = std::partition_point(calls.begin(), calls.end(),
                                            [&](const Activity& one) { return one.start_ns <= call.end_ns; });
    const int64_t last_ns = after == calls.begin() ? INT64_MIN : last_active_ns(*(after - 1), call.end_ns);
    if (best != 0 && last_ns <= latest_ns) continue;
    best = other;
    latest_ns = last_ns;
  }
  return best == 0 ? Who{} : Who{best, who.hops + 1, IdleLink::kProcess, 0};
}

// The two ends of a socket are two files, so the peer of a local socket is guessed: another thread that last wrote into
// any socket, or accepted a connection, during the wait.
Blame::Who Blame::find_answer(const Who& who, const Activity& call) const {
  const Activity* read = read_after(who, call);
  if (!read || read->writes || !activities_.is_local_socket(read->file_id)) return {};
  const auto& answers = activities_.socket_messages();
  auto after = std::partition_point(answers.begin(), answers.end(),
                                    [&](const Message& message) { return message.start_ns <= read->end_ns; });
  for (int tries = 0; after != answers.begin() && tries < kAnswersMax; ++tries) {
    --after;
    const bool is_in_time = after->end_ns >= call.start_ns;
    if (is_in_time && after->thread_id != who.thread_id) return {after->thread_id, who.hops + 1, IdleLink::kSocket, 0};
  }
  return {};
}

model::IdleRow& Blame::put(IdleLabel label, const Who& who, Stretch part) {
  model::IdleRow& row = rows_.emplace_back();
  row.ts_ns = part.start_ns;
  row.dur_ns = part.end_ns - part.start_ns;
  row.gpu_id = gap_->gpu_id;
  row.label = label;
  row.thread_id = who.thread_id;
  row.hops = who.hops;
  row.link = who.link;
  row.first_call_id = who.first_call_id;
  row.launch_thread_id = gap_->thread_id;
  row.correlation = gap_->correlation;
  row.mark_id = gap_->mark_id;
  return row;
}

void Blame::prove(model::IdleRow& row, model::IdleProof table, const Stretch& by) {
  row.proof = table;
  row.proof_ts_ns = by.start_ns;
}

}  // namespace mlrun::idle
