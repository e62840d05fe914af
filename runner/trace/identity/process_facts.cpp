// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/identity/process_facts.h"

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

constexpr int64_t kIoMax = int64_t{1} << 56;  // bytes or calls of a process; larger values are invalid

uint32_t short_at(const json& object, const char* where) {
  const uint64_t number = util::count_at(object, where);
  return number <= UINT32_MAX ? static_cast<uint32_t>(number) : 0;
}

// I/O counts from the process's own record, which is untrusted.
KernelIo io_of(const decode::EndEvent& event, int64_t ts_ns) {
  const auto bounded = [](int64_t number) { return std::clamp<int64_t>(number, -1, kIoMax); };
  return {ts_ns,
          bounded(event.rchar),
          bounded(event.wchar),
          bounded(event.syscr),
          bounded(event.syscw),
          bounded(event.read_bytes),
          bounded(event.write_bytes)};
}

void append(auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

KernelIo kernel_io_in(const json& io, int64_t ts_ns) {
  const auto count = [&](const char* where) {
    const json& found = util::json_at(io, where);
    if (!found.is_number_unsigned()) return int64_t{-1};
    return static_cast<int64_t>(std::min<uint64_t>(found.get<uint64_t>(), kIoMax));
  };
  return {ts_ns,           count("/rchar"),      count("/wchar"),      count("/syscr"),
          count("/syscw"), count("/read_bytes"), count("/write_bytes")};
}

void ProcessNotes::add(const ChunkScan& scan) {
  append(process_events_, scan.processes);
  append(end_events_, scan.ends);
  append(comm_events_, scan.comms);
  append(child_events_, scan.children);
  append(child_end_events_, scan.child_ends);
  append(rings_, scan.rings);
  append(threads_, scan.threads);
  for (const ProcessText& text : scan.process_texts) add_text(text);
}

void ProcessNotes::add_text(const ProcessText& text) {
  const json object = util::parse_json(text.json);
  if (!object.is_object()) {
    ++unreadable_texts_;
    return;
  }
  Report report;
  report.clock = text.clock;
  report.process = short_at(object, "/process");
  report.pid = short_at(object, "/pid");
  report.host_pid = short_at(object, "/host_pid");
  report.ppid = short_at(object, "/ppid");
  report.tid = short_at(object, "/tid");
  report.start_ticks = util::count_at(object, "/start_ticks");
  report.comm = util::text_at(object, "/comm");
  if (const json& io = util::json_at(object, "/io"); io.is_object()) report.io = kernel_io_in(io, 0);
  for (const json& row : util::list_at(object, "/modules")) {
    const bool good = row.is_array() && row.size() == 4 && row[0].is_number_unsigned() && row[1].is_number_unsigned() &&
                      row[2].is_number_unsigned() && row[3].is_string();
    if (good) modules_.add(report.process, row[0], row[1], row[2], row[3]);
  }
  reports_.push_back(std::move(report));
}

ProcessFacts& ProcessNotes::facts_of(uint32_t number) {
  ProcessFacts& facts = processes_[number];
  facts.number = number;
  return facts;
}

void ProcessNotes::place_channels(const SpoolChannels& channels, const TraceClock& clock) {
  TraceClock::Hint hint;
  for (const Channel& channel : channels.all()) {
    const bool has_rows = channel.first <= channel.last;
    if (!channel.described && !has_rows) continue;
    ProcessFacts& facts = facts_of(channel.about.process);
    if (facts.pid == 0) facts.pid = channel.about.pid;
    if (facts.host_pid == 0) facts.host_pid = channel.about.host_pid;
    if (facts.start_ticks == 0) facts.start_ticks = channel.about.start_ticks;
    if (facts.pid_namespace == 0) facts.pid_namespace = channel.about.pid_namespace;
    if (!has_rows) continue;
    facts.first_ns = std::min(facts.first_ns, clock.convert(channel.first, channel.clock_kind, hint));
    facts.last_ns = std::max(facts.last_ns, clock.convert(channel.last, channel.clock_kind, hint));
  }
}

void ProcessNotes::place_events(SpoolChannels& channels, const TraceClock& clock) {
  TraceClock::Hint hint;
  const auto ns_of = [&](const Channel& channel, uint64_t stamp) {
    return clock.convert(stamp, channel.clock_kind, hint);
  };
  for (const auto& [serial, event] : process_events_) {
    const Channel* channel = channels.find(serial);
    if (!channel) continue;
    ProcessFacts& facts = facts_of(event.process);
    if (facts.pid == 0) facts.pid = event.pid;
    if (facts.ppid == 0) facts.ppid = event.parent_pid;
    if (facts.start_ticks == 0) facts.start_ticks = event.start_ticks;
    if (facts.pid_namespace == 0) facts.pid_namespace = event.pid_namespace;
    facts.loaded = facts.loaded || event.origin == MLRUN_PROCESS_LOADED;
    const int64_t ts_ns = ns_of(*channel, event.clock);
    facts.first_ns = std::min(facts.first_ns, ts_ns);
    facts.last_ns = std::max(facts.last_ns, ts_ns);
    facts.records.push_back(event);
    facts.records.back().clock = static_cast<uint64_t>(ts_ns);
  }
  for (const auto& [serial, event] : end_events_) {
    const Channel* channel = channels.find(serial);
    if (!channel) continue;
    ProcessFacts& facts = facts_of(channel->about.process);
    const int64_t ts_ns = ns_of(*channel, event.clock);
    facts.last_ns = std::max(facts.last_ns, ts_ns);
    facts.end_recorded = true;
    if (event.rank >= 0 && !facts.records.empty() && facts.records.back().rank < 0) {
      decode::ProcessEvent& record = facts.records.back();
      std::tie(record.rank, record.local_rank, record.world_size) =
          std::tie(event.rank, event.local_rank, event.world_size);
    }
    if (event.rchar >= 0 && ts_ns >= facts.io.ts_ns) facts.io = io_of(event, ts_ns);
  }
  for (const auto& [serial, event] : child_events_) {
    const Channel* channel = channels.find(serial);
    if (!channel) continue;
    const auto index = static_cast<uint32_t>(channel - channels.all().data());
    children_.push_back({index, ns_of(*channel, event.clock), event.pid});
  }
  for (const auto& [serial, event] : child_end_events_) {
    const Channel* channel = channels.find(serial);
    if (!channel) continue;
    const auto index = static_cast<uint32_t>(channel - channels.all().data());
    child_ends_.push_back({index, ns_of(*channel, event.clock), event.pid, event.status});
  }
  for (auto& [serial, event] : comm_events_) {
    if (const Channel* channel = channels.find(serial))
      event.clock = static_cast<uint64_t>(ns_of(*channel, event.clock));
  }
}

void ProcessNotes::place_reports(const TraceClock& clock, mlrun_clock_kind session_clock) {
  TraceClock::Hint hint;
  for (Report& report : reports_) {
    const auto known = processes_.find(report.process);
    if (known == processes_.end()) continue;
    ProcessFacts& facts = known->second;
    if (facts.host_pid == 0) facts.host_pid = report.host_pid;
    if (facts.start_ticks == 0) facts.start_ticks = report.start_ticks;
    if (facts.ppid == 0) facts.ppid = report.ppid;
    report.io.ts_ns = clock.convert(report.clock, session_clock, hint);
    if (report.io.rchar >= 0 && report.io.ts_ns >= facts.io.ts_ns) facts.io = report.io;
    if (report.tid != 0 && !report.comm.empty()) {
      comms_.push_back({report.process, report.tid, report.io.ts_ns, std::move(report.comm)});
    }
  }
  reports_ = {};
}

void ProcessNotes::place(SpoolChannels& channels, const TraceClock& clock, mlrun_clock_kind session_clock) {
  place_channels(channels, clock);
  place_events(channels, clock);
  place_reports(clock, session_clock);
}

}  // namespace mlrun::trace
