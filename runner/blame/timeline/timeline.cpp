// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/timeline/timeline.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace mlrun::blame {

namespace {

constexpr int64_t kSameLockBytes = 256;  // an interpreter's conditions are next to each other in memory

}  // namespace

double CallSums::total_ns() const { return std::accumulate(group_ns.begin(), group_ns.end(), 0.0); }

void CallBins::add(Ns start_ns, Ns end_ns, CallGroup group, const std::array<Ns, kCallStates>& states, Ns width_ns) {
  const Ns whole_ns = end_ns - start_ns;
  if (!bins_.empty()) start_ns = std::max(start_ns, bins_.back().end_ns);
  if (end_ns <= start_ns) return;
  // A pause of half the width ends a bin, so that its sums are not spread over the pause.
  const bool begins =
      bins_.empty() || end_ns - bins_.back().start_ns > width_ns || start_ns - bins_.back().end_ns > width_ns / 2;
  if (begins) bins_.push_back({start_ns, end_ns, {}, {}, 0, 0});
  Bin& bin = bins_.back();
  bin.end_ns = end_ns;
  bin.group_ns[static_cast<size_t>(group)] += static_cast<float>(end_ns - start_ns);
  const float part = static_cast<float>(end_ns - start_ns) / static_cast<float>(whole_ns);
  for (size_t i = 0; i < kCallStates; ++i) bin.state_ns[i] += static_cast<float>(states[i]) * part;
}

void CallBins::note_data(bool opens, int64_t bytes) {
  if (bins_.empty()) return;
  bins_.back().data_opens += opens ? 1 : 0;
  bins_.back().data_bytes += static_cast<float>(bytes);
}

CallSums CallBins::sums(Ns a_ns, Ns b_ns) const {
  CallSums sums;
  auto bin = std::partition_point(bins_.begin(), bins_.end(), [&](const Bin& one) { return one.end_ns <= a_ns; });
  for (; bin != bins_.end() && bin->start_ns < b_ns; ++bin) {
    const Ns inside_ns = std::min(b_ns, bin->end_ns) - std::max(a_ns, bin->start_ns);
    const double part = static_cast<double>(inside_ns) / static_cast<double>(bin->end_ns - bin->start_ns);
    for (size_t i = 0; i < kCallGroups; ++i) sums.group_ns[i] += part * static_cast<double>(bin->group_ns[i]);
    for (size_t i = 0; i < kCallStates; ++i) sums.state_ns[i] += part * static_cast<double>(bin->state_ns[i]);
  }
  return sums;
}

void FileUse::add(const FileUse& other) {
  reads += other.reads;
  read_bytes += other.read_bytes;
  small_reads += other.small_reads;
  jumps += other.jumps;
  opens += other.opens;
  names += other.names;
  maps += other.maps;
  writes += other.writes;
  written_bytes += other.written_bytes;
  syncs += other.syncs;
  names_ns += other.names_ns;
  read_ns += other.read_ns;
  direct_ns += other.direct_ns;
}

size_t Thread::first_wait(Ns moment_ns) const {
  const auto at =
      std::partition_point(waits.begin(), waits.end(), [&](const Wait& one) { return one.end_ns <= moment_ns; });
  return static_cast<size_t>(at - waits.begin());
}

size_t Thread::first_sample(Ns moment_ns) const {
  const auto at = std::partition_point(samples.begin(), samples.end(),
                                       [&](const StackSample& one) { return one.start_ns < moment_ns; });
  return static_cast<size_t>(at - samples.begin());
}

model::FileKind Timeline::kind(int64_t file_id) const {
  const bool is_known = file_id > 0 && static_cast<size_t>(file_id) < file_kinds.size();
  return is_known ? static_cast<model::FileKind>(file_kinds[static_cast<size_t>(file_id)]) : model::FileKind::kUnknown;
}

const std::vector<Message>* Timeline::find_messages(int64_t file_id) const {
  const auto found = messages.find(file_id);
  return found == messages.end() ? nullptr : &found->second;
}

int64_t Timeline::peer(int64_t file_id) const {
  const auto found = peers.find(file_id);
  return found == peers.end() ? 0 : found->second;
}

bool Timeline::is_python_lock(int32_t proc_id, const Wait& wait) const {
  const int64_t lock = process(proc_id).python_lock;
  return lock != 0 && wait.kind == WaitKind::kLock && wait.condition &&
         std::abs(wait.argument - lock) <= kSameLockBytes;
}

}  // namespace mlrun::blame
