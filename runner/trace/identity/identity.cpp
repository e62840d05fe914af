// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/identity.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "runner/decode/limits.h"
#include "runner/trace/identity/parents.h"
#include "runner/util/secrets.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

// "a\0b\0" as "a b", with secrets masked.
std::string with_blanks(std::string_view arguments) { return util::escaped_utf8(util::masked_command_line(arguments)); }

}  // namespace

Identity::Identity(SpoolChannels& channels, ProcessNotes& notes, StringTable& strings, const TraceClock& clock)
    : channels_(channels), notes_(notes), strings_(strings), clock_(clock) {}

void Identity::resolve(model::TraceInfo& info) {
  join_instances();
  add_images(info);
  add_threads(info);
  add_process_rows(info);
  find_parents(info.processes, notes_.children(), channels_.all());
  name_threads(info);
  inherit_modules(info);
}

// The process to which `facts` belongs. The same pid with different known start times means different processes. If a
// start time is missing, an image that was loaded by exec after the process's last record belongs to it.
Identity::Process* Identity::earlier_image(const ProcessFacts& facts) {
  const auto found = by_pid_.find({facts.pid_namespace, facts.pid});
  if (found == by_pid_.end() || facts.pid == 0) return nullptr;
  for (auto index = found->second.rbegin(); index != found->second.rend(); ++index) {
    Process& process = processes_[*index];
    uint64_t start_ticks = 0;
    for (const ProcessFacts* instance : process.instances) start_ticks = std::max(start_ticks, instance->start_ticks);
    if (start_ticks != 0 && facts.start_ticks != 0) {
      if (start_ticks == facts.start_ticks) return &process;
    } else if (facts.loaded && process.last().last_ns <= facts.first_ns) {
      return &process;
    }
  }
  return nullptr;
}

void Identity::join_instances() {
  std::vector<const ProcessFacts*> instances;
  for (const auto& [number, facts] : notes_.processes()) instances.push_back(&facts);
  std::stable_sort(instances.begin(), instances.end(),
                   [](const auto* a, const auto* b) { return a->first_ns < b->first_ns; });
  for (const ProcessFacts* facts : instances) {
    Process* process = earlier_image(*facts);
    if (!process) {
      by_pid_[{facts->pid_namespace, facts->pid}].push_back(processes_.size());
      process = &processes_.emplace_back();
    }
    process->instances.push_back(facts);
    proc_of_number_[facts->number] = static_cast<int32_t>(process - processes_.data()) + 1;
  }
}

void Identity::fill_from_images(const Process& process, model::ProcessRow& row) {
  for (const ProcessFacts* facts : process.instances) {
    for (const decode::ProcessEvent& record : facts->records) {
      row.uid = record.uid;
      if (record.rank >= 0) {
        row.rank = record.rank;
        row.launcher = record.launcher;
      }
      if (record.local_rank >= 0) row.local_rank = record.local_rank;
      if (record.world_size >= 0) row.world_size = record.world_size;
      if (const auto cgroup = strings_.find(record.cgroup)) row.cgroup = util::escaped_utf8(*cgroup);
      if (const auto arguments = strings_.find(record.arguments)) row.command = with_blanks(*arguments);
    }
  }
}

model::ProcessRow Identity::process_row(const Process& process, int32_t proc_id) {
  model::ProcessRow row;
  row.proc_id = proc_id;
  row.first_ns = process.first().first_ns;
  row.ns_pid = static_cast<int32_t>(process.first().pid);
  row.pid_namespace = static_cast<int64_t>(process.first().pid_namespace);
  row.ppid = static_cast<int32_t>(process.first().ppid);
  row.forked =
      std::none_of(process.instances.begin(), process.instances.end(), [](const auto* facts) { return facts->loaded; });
  KernelIo io;
  for (const ProcessFacts* facts : process.instances) {
    row.last_ns = std::max(row.last_ns, facts->last_ns);
    if (row.pid == 0) row.pid = static_cast<int32_t>(facts->host_pid);
    row.start_ticks = std::max(row.start_ticks, static_cast<int64_t>(facts->start_ticks));
    if (facts->io.ts_ns >= io.ts_ns) io = facts->io;
  }
  if (row.pid == 0) row.pid = row.ns_pid;
  row.kernel_rchar = io.rchar;
  row.kernel_wchar = io.wchar;
  row.kernel_syscr = io.syscr;
  row.kernel_syscw = io.syscw;
  row.kernel_read_bytes = io.read_bytes;
  row.kernel_write_bytes = io.write_bytes;
  row.kernel_io_ns = io.ts_ns;
  row.end_recorded = process.last().end_recorded;
  row.kernel_io_final = row.end_recorded && process.last().io.ts_ns >= io.ts_ns;
  if (row.end_recorded) row.end = "exit";
  fill_from_images(process, row);
  return row;
}

void Identity::add_process_rows(model::TraceInfo& info) {
  for (size_t i = 0; i < processes_.size(); ++i) {
    info.processes.push_back(process_row(processes_[i], static_cast<int32_t>(i) + 1));
  }
  for (Channel& channel : channels_.all()) {
    if (channel.origin.proc_id != 0)
      channel.origin.pid = info.processes[static_cast<size_t>(channel.origin.proc_id) - 1].pid;
  }
}

// Adds first the images that have a process record, then those to which only channels refer.
void Identity::add_images(model::TraceInfo& info) {
  const auto add = [&](const ProcessFacts& facts, uint32_t image) -> model::ImageRow* {
    const auto image_id = static_cast<int32_t>(info.images.size()) + 1;
    if (!images_.try_emplace({facts.number, image}, image_id).second) return nullptr;
    model::ImageRow row;
    row.image_id = image_id;
    row.proc_id = proc_of_number_[facts.number];
    row.start_ns = facts.first_ns;
    return &info.images.emplace_back(std::move(row));
  };
  for (const Process& process : processes_) {
    for (const ProcessFacts* facts : process.instances) {
      for (const decode::ProcessEvent& record : facts->records) {
        model::ImageRow* row = add(*facts, record.image);
        if (!row) continue;
        row->start_ns = static_cast<int64_t>(record.clock);
        row->exe = util::escaped_utf8(strings_.text(record.exe));
        row->arguments = with_blanks(strings_.text(record.arguments));
        row->cwd = util::escaped_utf8(strings_.text(record.cwd));
        row->allocator = util::escaped_utf8(strings_.text(record.allocator));
        row->malloc_in_front = record.malloc_in_front;
      }
    }
  }
  for (const Channel& channel : channels_.all()) {
    const auto facts = notes_.processes().find(channel.about.process);
    if (facts != notes_.processes().end()) add(facts->second, channel.about.image);
  }
}

Identity::Life Identity::life_of(const Channel& channel) const {
  TraceClock::Hint hint;
  if (channel.first <= channel.last) {
    return {clock_.convert(channel.first, channel.clock_kind, hint),
            clock_.convert(channel.last, channel.clock_kind, hint)};
  }
  if (channel.has_counters) {
    const int64_t counted_ns = TraceClock::from_monotonic(channel.counters.monotonic_ns);
    return {counted_ns, counted_ns};
  }
  const ProcessFacts& facts = notes_.processes().at(channel.about.process);
  return {facts.first_ns, facts.first_ns};
}

// All beginnings in order of time, a creation before the channel of the thread that it creates. A channel without
// records begins right after its thread's recorded creation, else with its process.
std::vector<Identity::Begin> Identity::thread_beginnings() {
  TraceClock::Hint hint;
  std::vector<Begin> order;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> created;  // process and tid: the first
  const auto& notes = notes_.threads();
  for (size_t i = 0; i < notes.size(); ++i) {
    const Channel* channel = channels_.find(notes[i].channel);
    if (!channel || !proc_of_number_.contains(channel->about.process)) continue;
    const int64_t ts_ns = clock_.convert(notes[i].value.clock, channel->clock_kind, hint);
    order.push_back({{ts_ns, ts_ns}, false, i});
    if (notes[i].value.created) created.try_emplace({channel->about.process, notes[i].value.tid}, ts_ns);
  }
  for (size_t i = 0; i < channels_.all().size(); ++i) {
    const Channel& channel = channels_.all()[i];
    if (!proc_of_number_.contains(channel.about.process)) continue;
    Life life = life_of(channel);
    const bool has_times = channel.first <= channel.last || channel.has_counters;
    const auto known = has_times ? created.end() : created.find({channel.about.process, channel.about.tid});
    if (known != created.end()) life = {known->second + 1, known->second + 1};
    order.push_back({life, true, i});
  }
  std::sort(order.begin(), order.end(), [](const Begin& a, const Begin& b) {
    if (a.life.first_ns != b.life.first_ns) return a.life.first_ns < b.life.first_ns;
    return std::tuple(!a.is_channel, a.life.last_ns, a.index) < std::tuple(!b.is_channel, b.life.last_ns, b.index);
  });
  return order;
}

// A new row for the thread `tid` of the channel's image.
model::ThreadRow& Identity::begin_thread(model::TraceInfo& info, const Channel& channel, uint32_t tid, int64_t first_ns,
                                         Latest& latest) {
  model::ThreadRow row;
  row.thread_id = static_cast<int32_t>(info.threads.size()) + 1;
  row.proc_id = proc_of_number_[channel.about.process];
  row.image_id = images_[{channel.about.process, channel.about.image}];
  const bool is_outside = channel.about.host_tid == 0 || channel.about.host_tid == channel.about.tid;
  row.tid = is_outside ? static_cast<int32_t>(tid) : -1;  // in another pid namespace only its own channel has it
  row.first_ns = row.last_ns = first_ns;
  latest = {row.thread_id, kLatestNs};
  numbers_.add(row.image_id, tid, {first_ns, row.thread_id});
  numbered_.push_back({{channel.about.process, tid}, row.thread_id});
  return info.threads.emplace_back(row);
}

void Identity::add_threads(model::TraceInfo& info) {
  std::map<std::pair<int32_t, uint32_t>, Latest> threads;  // by image and tid
  for (const Begin& begin : thread_beginnings()) {
    if (!begin.is_channel) {
      const auto& [serial, note] = notes_.threads()[begin.index];
      const Channel& maker = *channels_.find(serial);
      Latest& latest = threads[{images_[{maker.about.process, maker.about.image}], note.tid}];
      // A creation makes a row. A wait that the thread ended makes one only if the thread is unknown, since it may have
      // ended before its creator asked for its tid.
      const bool is_new = note.created || latest.thread_id == 0;
      if (is_new && info.threads.size() < decode::kThreadsMax) {
        begin_thread(info, maker, note.tid, begin.life.first_ns, latest);
      }
      continue;
    }
    Channel& channel = channels_.all()[begin.index];
    const int32_t image_id = images_[{channel.about.process, channel.about.image}];
    Latest& latest = threads[{image_id, channel.about.tid}];
    if (latest.thread_id == 0 || latest.ended_ns <= begin.life.first_ns) {
      begin_thread(info, channel, channel.about.tid, begin.life.first_ns, latest);
    }
    model::ThreadRow& row = info.threads[static_cast<size_t>(latest.thread_id) - 1];
    if (channel.about.host_tid != 0) row.tid = static_cast<int32_t>(channel.about.host_tid);
    row.last_ns = std::max(row.last_ns, begin.life.last_ns);
    latest.ended_ns = channel.counters.final ? TraceClock::from_monotonic(channel.counters.monotonic_ns) : kLatestNs;
    channel.origin = {0, row.proc_id, image_id, row.thread_id, 0, row.tid};
  }
  prolong_threads(info);
}

// A thread that ended another thread's wait was alive at that time, even if it recorded nothing itself.
void Identity::prolong_threads(model::TraceInfo& info) {
  TraceClock::Hint hint;
  for (const auto& [serial, note] : notes_.threads()) {
    const Channel* channel = note.created ? nullptr : channels_.find(serial);
    if (!channel || channel->origin.thread_id == 0) continue;
    const int64_t ts_ns = clock_.convert(note.clock, channel->clock_kind, hint);
    const int32_t thread_id = numbers_.find(channel->origin.image_id, note.tid, ts_ns);
    if (thread_id == 0) continue;
    model::ThreadRow& row = info.threads[static_cast<size_t>(thread_id) - 1];
    row.last_ns = std::max(row.last_ns, ts_ns);
  }
}

void Identity::name_threads(model::TraceInfo& info) {
  std::vector<CommFact> comms = notes_.comms();
  for (const auto& [serial, event] : notes_.comm_events()) {
    const Channel* channel = channels_.find(serial);
    const auto name = strings_.find(event.name);
    if (!channel || !name) continue;
    comms.push_back({channel->about.process, event.tid, static_cast<int64_t>(event.clock), util::escaped_utf8(*name)});
  }
  std::stable_sort(comms.begin(), comms.end(), [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  std::map<std::pair<uint32_t, uint32_t>, std::vector<int32_t>> threads;  // process number and tid: thread_ids
  for (const auto& [number, thread_id] : numbered_) threads[number].push_back(thread_id);
  for (const CommFact& fact : comms) {
    for (const int32_t thread_id : threads[{fact.process, fact.tid}]) {
      model::ThreadRow& row = info.threads[static_cast<size_t>(thread_id) - 1];
      if (fact.ts_ns >= row.first_ns || row.comm.empty()) row.comm = fact.comm;
    }
  }
}

// A forked child runs its parent's code. If the collector came too late to read its mappings, the parent's are used.
void Identity::inherit_modules(const model::TraceInfo& info) {
  for (const model::ProcessRow& row : info.processes) {
    if (row.parent_proc_id == 0) continue;
    const ProcessFacts& child = processes_[static_cast<size_t>(row.proc_id) - 1].first();
    if (!child.loaded)
      notes_.modules().inherit(child.number, processes_[static_cast<size_t>(row.parent_proc_id) - 1].last().number);
  }
}

}  // namespace mlrun::trace
