// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/gpu/cuda_stacks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "runner/decode/limits.h"
#include "runner/util/proc_lines.h"
#include "runner/util/text.h"

namespace mlrun::trace {

CudaStacks::CudaStacks(model::StackTable& table, size_t depth) : table_(table), depth_(depth) {}

void CudaStacks::add_mappings(const decode::KernelReader& reader) {
  mlrun_mappings_seen seen{};
  if (reader.head().kind != MLRUN_KERNEL_MAPPINGS || !reader.read(seen)) return;
  auto& snapshots = snapshots_[seen.head.pid];
  if (snapshots.empty() || snapshots.back().time_ns != seen.head.time_ns) snapshots.push_back({seen.head.time_ns, {}});
  for (const std::string_view line : util::split(reader.text_behind(sizeof seen, seen.text_bytes), "\n")) {
    const auto map = util::maps_line(line);
    if (!map || !map->has_file() || map->start >= map->end) continue;
    if (++mappings_ > kMappingsMax) {
      ++left_out_;
      return;
    }
    snapshots.back().mappings.push_back({map->start, map->end, map->file_offset, map->inode, std::string(map->path)});
  }
}

void CudaStacks::add_part(const mlrun_stack_part& part) {
  const uint64_t sp = part.registers[MLRUN_STACK_SP];
  const uint64_t room = uint64_t{MLRUN_STACK_PARTS} * MLRUN_STACK_PART_BYTES - sp % MLRUN_STACK_PART_BYTES;
  if (part.bytes > MLRUN_STACK_PART_BYTES || part.address - sp >= room) return;
  const Thread thread{part.head.pid, part.head.tid};
  if (!copies_.contains(thread) && copies_.size() >= kCopiesMax) copies_.clear();  // their calls' records were lost
  Copy& copy = copies_[thread];
  if (copy.time_ns != part.head.time_ns) {
    copy = {part.head.time_ns, {}};
    copy.stack.address = sp;
    copy.stack.asked_bytes = room;
    std::copy_n(static_cast<const __u64*>(part.registers), copy.stack.registers.size(), copy.stack.registers.begin());
  }
  const uint64_t offset = part.address - copy.stack.address, end = copy.stack.bytes.size();
  if (offset < end || offset >= room) return;
  if (offset > end) copy.stack.holes.emplace_back(end, offset);
  copy.stack.bytes.resize(offset);
  copy.stack.bytes.append(reinterpret_cast<const char*>(part.stack), part.bytes);
}

int32_t CudaStacks::stack_of(const mlrun_cuda_call& call) {
  const auto found = copies_.find({call.head.pid, call.head.tid});
  if (found == copies_.end() || found->second.time_ns != call.head.time_ns) return 0;
  const symbols::StackCopy copy = std::move(found->second.stack);
  copies_.erase(found);
  Snapshot& snapshot = snapshot_for(call, copy.registers[MLRUN_STACK_PC]);
  const symbols::WalkedStack walked = walker_of(snapshot).walk(copy, depth_);
  const bool room = table_.stacks.size() < decode::kStacksMax && table_.frame_ids.size() < decode::kFramesMax;
  if (room) return intern(snapshot, walked);
  ++left_out_;
  return 0;
}

// The mappings of the process at the time of the call. mlrun-probes records mappings after they have changed, so the
// first record after the call has them, unless the process has executed another program by then.
CudaStacks::Snapshot& CudaStacks::snapshot_for(const mlrun_cuda_call& call, uint64_t address) {
  const auto known = snapshots_.find(call.head.pid);
  if (known == snapshots_.end()) return nothing_;
  auto& snapshots = known->second;
  auto next = std::lower_bound(snapshots.begin(), snapshots.end(), call.head.time_ns,
                               [](const Snapshot& snapshot, uint64_t time_ns) { return snapshot.time_ns < time_ns; });
  if (next != snapshots.end() && walker_of(*next).knows(address)) return *next;
  return next == snapshots.begin() ? *next : *std::prev(next);
}

symbols::StackWalker& CudaStacks::walker_of(Snapshot& snapshot) {
  if (snapshot.walker) return *snapshot.walker;
  if (++walkers_ > kWalkersMax) {
    for (auto& [pid, snapshots] : snapshots_) {
      for (Snapshot& other : snapshots) other.walker.reset();
    }
    walkers_ = 1;
  }
  snapshot.walker = std::make_unique<symbols::StackWalker>(snapshot.mappings);
  return *snapshot.walker;
}

uint32_t CudaStacks::file_of(Snapshot& snapshot, size_t mapping) {
  if (mapping == 0) return 0;
  const auto known = snapshot.files.find(mapping);
  if (known != snapshot.files.end()) return known->second;
  const symbols::StackWalker& walker = *snapshot.walker;
  const auto [place, made] = files_.try_emplace({walker.path(mapping), walker.build_id(mapping)});
  if (made) {
    table_.files.push_back({util::escaped_utf8(walker.path(mapping)), walker.build_id(mapping)});
    place->second = static_cast<uint32_t>(table_.files.size());
  }
  return snapshot.files[mapping] = place->second;
}

int32_t CudaStacks::frame_id(Snapshot& snapshot, const symbols::WalkedFrame& frame) {
  const uint32_t file = file_of(snapshot, frame.mapping);
  const uint64_t key = uint64_t{file} << 1 | (frame.is_interrupted ? 1 : 0);
  const auto [place, made] = frame_ids_.try_emplace({key, frame.offset});
  if (made) {
    model::FrameRow row;
    row.file = file;
    row.offset = frame.offset;
    row.interrupted = frame.is_interrupted;
    table_.frames.push_back(std::move(row));
    place->second = static_cast<int32_t>(table_.frames.size());
  }
  return place->second;
}

int32_t CudaStacks::intern(Snapshot& snapshot, const symbols::WalkedStack& stack) {
  std::vector<int32_t> frames;
  for (const symbols::WalkedFrame& frame : stack.frames) frames.push_back(frame_id(snapshot, frame));
  const auto [place, made] = stack_ids_.try_emplace({stack.end, frames});
  if (made) {
    table_.stacks.push_back(
        {static_cast<uint32_t>(table_.frame_ids.size()), static_cast<uint8_t>(frames.size()), stack.end});
    table_.frame_ids.insert(table_.frame_ids.end(), frames.begin(), frames.end());
    place->second = static_cast<int32_t>(table_.stacks.size());
  }
  return place->second;
}

}  // namespace mlrun::trace
