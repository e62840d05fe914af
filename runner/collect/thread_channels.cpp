// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/thread_channels.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "runner/util/proc_files.h"

namespace mlrun::collect {

namespace {

constexpr uint64_t kExistenceCheckNs = 1'000'000'000;

// Frees the slot for the next thread. No robust list refers to the slot any more: its owner is dead.
void clear(mlrun_channel& shared) {
  std::memset(&shared, 0, offsetof(mlrun_channel, state));
  std::memset(&shared.pid, 0, sizeof shared - offsetof(mlrun_channel, pid));
  store(shared.state, uint32_t{MLRUN_CHANNEL_FREE});
}

}  // namespace

ThreadChannels::ThreadChannels(const Arena& arena, Spool& spool, ProcessWatch& processes)
    : arena_(arena), spool_(spool), processes_(processes), by_segment_(arena.layout().segment_count) {}

void ThreadChannels::add_descriptors(uint32_t segment) {
  if (by_segment_[segment]) return;
  by_segment_[segment] = std::make_unique<Descriptors>();
  by_segment_[segment]->segment = segment;
  known_.push_back(by_segment_[segment].get());
}

// The channel in a slot, created and announced if new.
Channel* ThreadChannels::channel_at(Descriptors& descriptors, uint32_t slot, const Pass& pass) {
  std::unique_ptr<Channel>& channel = descriptors.slots[slot - 1];
  if (channel) return channel.get();
  mlrun_channel& shared = arena_.descriptor(descriptors.segment, slot);
  const uint32_t state = load(shared.state);
  if (state == MLRUN_CHANNEL_CLAIMED && (load(shared.lock) & FUTEX_OWNER_DIED) != 0) clear(shared);
  if (state != MLRUN_CHANNEL_LIVE || load(shared.serial) == 0) return nullptr;
  channel = std::make_unique<Channel>();
  channel->id = descriptors.segment * 16 + slot;
  channel->shared = &shared;
  channel->serial = load(shared.serial);
  channel->pid_namespace = load(shared.pid_namespace);
  channel->pid = load(shared.pid);
  channel->tid = load(shared.tid);
  channel->process = load(shared.process);
  channel->image = load(shared.image);
  channel->next_seq = load(shared.next_seq);
  channel->without_robust_list = load(shared.lock) == 0;
  // A recovering collector does not know which drops earlier frames reported. It counts them as reported: the counters
  // frames have the totals.
  if (channel->next_seq > 0) channel->drops_reported = channel->drops();
  announce(*channel, pass);
  return channel.get();
}

void ThreadChannels::announce(Channel& channel, const Pass& pass) {
  const uint64_t start_ticks = processes_.meet(channel, pass.now_ns);
  statistics_.channels++;
  if (channel.next_seq == 0) describe(channel, pass, start_ticks);
}

void ThreadChannels::describe(Channel& channel, const Pass& pass, uint64_t start_ticks) {
  const mlrun_frame_channel body{channel.pid,
                                 channel.tid,
                                 channel.host_pid,
                                 channel.host_tid,
                                 channel.process,
                                 channel.image,
                                 channel.pid_namespace,
                                 start_ticks,
                                 static_cast<__u32>(arena_.clock_kind()),
                                 1};
  const mlrun_frame frame = channel.next_frame(MLRUN_FRAME_CHANNEL, pass.clock_before, pass.clock);
  spool_.put_report(frame, &body, sizeof body);
  channel.frame_was_put(frame);
}

bool ThreadChannels::is_gone(Channel& channel, uint64_t now_ns) const {
  if (channel.marked_dead()) return true;
  if (!channel.without_robust_list || channel.host_tid == 0 || now_ns < channel.next_existence_check_ns) return false;
  channel.next_existence_check_ns = now_ns + kExistenceCheckNs;
  return !util::thread_exists(channel.host_pid, channel.host_tid);
}

void ThreadChannels::begin_pass(const Pass& pass) {
  for (Descriptors* descriptors : known_) {
    for (uint32_t slot = 1; slot <= MLRUN_CHANNELS_PER_SEGMENT; slot++) {
      Channel* channel = channel_at(*descriptors, slot, pass);
      if (channel == nullptr) continue;
      channel->dead = channel->dead || is_gone(*channel, pass.now_ns);
      channel->segments = 0;
      channel->has_new_data = false;
    }
  }
}

Channel* ThreadChannels::find(uint32_t descriptor_id, const Pass& pass) {
  const uint32_t segment = descriptor_id / 16;
  const uint32_t slot = descriptor_id % 16;
  if (segment >= by_segment_.size() || slot == 0) return nullptr;
  if (!by_segment_[segment]) {
    // A descriptor segment that was claimed after the pass listed it.
    if ((load(arena_.owner(segment)) & MLRUN_OWNER_MASK) != MLRUN_OWNER_DESCRIPTORS) return nullptr;
    add_descriptors(segment);
  }
  return channel_at(*by_segment_[segment], slot, pass);
}

void ThreadChannels::write_counters(Channel& channel, const Pass& pass, bool final) {
  if (!channel.counters->read(*channel.shared, pass.now_ns, in_full_) && !final) return;
  if (channel.counters->left_out_changed()) write_left_out(channel, pass);
  if (channel.counters->drops_changed()) write_drops(channel, pass);
  const auto& entries = channel.counters->changed();
  mlrun_frame_counters body{};
  body.monotonic_ns = pass.now_ns;
  for (size_t reason = 0; reason < MLRUN_DROP_REASONS; reason++) {
    body.drops[reason] = util::drops_of(channel.counters->drops(), reason);
  }
  body.entries = static_cast<__u32>(entries.size());
  body.final = final ? 1 : 0;
  char payload[sizeof body + (MLRUN_FINE_CLASSES + MLRUN_COARSE_CLASSES) * sizeof(mlrun_counter_entry)];
  std::memcpy(payload, &body, sizeof body);
  if (!entries.empty()) std::memcpy(payload + sizeof body, entries.data(), entries.size() * sizeof entries[0]);
  const mlrun_frame frame = channel.next_frame(MLRUN_FRAME_COUNTERS, pass.clock_before, pass.clock);
  spool_.put_report(frame, payload, static_cast<uint32_t>(sizeof body + entries.size() * sizeof entries[0]));
  channel.frame_was_put(frame);
}

void ThreadChannels::write_left_out(Channel& channel, const Pass& pass) {
  const mlrun_frame_left_out body{pass.now_ns, channel.counters->left_out()};
  const mlrun_frame frame = channel.next_frame(MLRUN_FRAME_LEFT_OUT, pass.clock_before, pass.clock);
  spool_.put_report(frame, &body, sizeof body);
  channel.frame_was_put(frame);
}

void ThreadChannels::write_drops(Channel& channel, const Pass& pass) {
  const std::string payload = util::drops_payload(pass.now_ns, channel.counters->drops());
  const mlrun_frame frame = channel.next_frame(MLRUN_FRAME_DROPS, pass.clock_before, pass.clock);
  spool_.put_report(frame, payload.data(), static_cast<uint32_t>(payload.size()));
  channel.frame_was_put(frame);
}

void ThreadChannels::free_descriptor(std::unique_ptr<Channel>& channel) {
  statistics_.counted += channel->counters->counted();
  statistics_.drops += channel->drops();
  processes_.leave(*channel);
  mlrun_channel& shared = *channel->shared;
  channel.reset();
  clear(shared);
}

void ThreadChannels::end_pass(const Pass& pass) {
  const uint32_t begun = spool_.window() ? spool_.window()->stretches_begun() : 0;
  in_full_ = begun != stretches_begun_;
  stretches_begun_ = begun;
  for (Descriptors* descriptors : known_) {
    for (auto& channel : descriptors->slots) {
      if (!channel) continue;
      if (channel->has_new_data) processes_.note_data(channel->process);
      if (channel->host_pid == 0 && !channel->dead) {
        if (const uint64_t start_ticks = processes_.check_again(*channel, pass.now_ns))
          describe(*channel, pass, start_ticks);
      }
      const bool ended = channel->dead && channel->segments == 0;
      if (ended || in_full_ || channel->counters->due(pass.now_ns)) write_counters(*channel, pass, ended);
      if (ended) free_descriptor(channel);
    }
  }
}

uint32_t ThreadChannels::finish(const Pass& pass, bool cut_off) {
  uint32_t count = 0;
  for (Descriptors* descriptors : known_) {
    for (auto& channel : descriptors->slots) {
      if (!channel) continue;
      write_counters(*channel, pass, channel->dead);
      statistics_.counted += channel->counters->counted();
      statistics_.drops += channel->drops();
      if (channel->dead) continue;
      count++;
      if (!cut_off) continue;
      const mlrun_frame_gap gap{MLRUN_GAP_CUT_OFF, 0, pass.now_ns, pass.now_ns, 1};
      const mlrun_frame frame = channel->next_frame(MLRUN_FRAME_GAP, pass.clock_before, pass.clock);
      spool_.put_report(frame, &gap, sizeof gap);
      channel->frame_was_put(frame);
    }
  }
  return count;
}

uint32_t ThreadChannels::live() const {
  uint32_t count = 0;
  for (const Descriptors* descriptors : known_) {
    for (const auto& channel : descriptors->slots) count += channel && !channel->dead ? 1 : 0;
  }
  return count;
}

}  // namespace mlrun::collect
