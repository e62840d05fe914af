// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/tracks.h"

#include <fmt/format.h>

#include "runner/exchange/each_row.h"

namespace mlrun::exchange {

namespace {

// Commands may be as long as the kernel allows.
std::string short_name(std::string_view name) {
  constexpr size_t kMost = 80;
  if (name.size() <= kMost) return std::string(name);
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // not inside a character
  return std::string(name.substr(0, end)) + "…";
}

}  // namespace

Status Tracks::load(Export& job) {
  auto read = each_row(job, "process", {"proc_id", "pid", "command", "role", "rank"}, [&](const Row& row) {
    std::string name = short_name(row.text(2));
    const std::string_view role = row.text(3);
    if (!role.empty() && role != "main") name += fmt::format(" ({})", role);
    processes_[row.number(0)] = {row.number(1), std::move(name)};
  });
  if (!read) return tl::make_unexpected(read.error());
  read = each_row(job, "thread", {"thread_id", "proc_id", "tid", "comm"}, [&](const Row& row) {
    threads_[row.number(0)] = {row.number(1), row.number(2), std::string(row.text(3))};
  });
  if (!read) return tl::make_unexpected(read.error());
  read = each_row(job, "gpu", {"gpu_id", "name", "nvml_index"}, [&](const Row& row) {
    const std::string number =
        row.is_null(2) ? fmt::format("{} of the trace", row.number(0)) : fmt::format("{}", row.number(2));
    gpus_[row.number(0)] = fmt::format("GPU {} {}", number, row.text(1));
  });
  if (!read) return tl::make_unexpected(read.error());
  read = each_row(job, "device", {"dev", "name"},
                  [&](const Row& row) { devices_[row.number(0)] = std::string(row.text(1)); });
  if (!read) return tl::make_unexpected(read.error());
  return {};
}

TrackId Tracks::make(TrackId parent, TrackKind kind, std::string name, int64_t pid, int64_t tid) {
  const auto id = TrackId(tracks_.size() + 1);
  tracks_.push_back({.id = id, .parent = parent, .kind = kind, .name = std::move(name), .pid = pid, .tid = tid});
  sink_->track(tracks_.back());
  return id;
}

TrackId Tracks::child(TrackId parent, TrackKind kind, const std::string& name) {
  TrackId& found = children_[{parent, name}];
  if (found == 0) found = make(parent, kind, name, 0, 0);
  return found;
}

TrackId Tracks::add_lane(TrackId track) {
  const std::string name = tracks_[track - 1].name;
  return make(track, TrackKind::kLane, name, 0, 0);
}

// Viewers know a process by its pid. A second one with that pid, or one without, is a group of tracks for them.
TrackId Tracks::process(int64_t proc_id, int64_t pid) {
  TrackId& found = process_tracks_[{proc_id, proc_id == 0 ? pid : 0}];
  if (found != 0) return found;
  std::string name;
  if (const auto known = processes_.find(proc_id); known != processes_.end()) {
    pid = known->second.pid;
    name = known->second.name;
  }
  const bool is_first = pid > 0 && taken_[{pid, 0}]++ == 0;
  if (!is_first) name = fmt::format("{} (pid {}, process {} of the trace)", name, pid, proc_id);
  return found = make(0, is_first ? TrackKind::kProcess : TrackKind::kGroup, std::move(name), pid, 0);
}

TrackId Tracks::thread(int64_t thread_id, int64_t proc_id, int64_t pid, int64_t tid) {
  if (thread_id > 0 && size_t(thread_id) >= track_of_thread_.size()) track_of_thread_.resize(size_t(thread_id) * 2);
  if (thread_id > 0 && track_of_thread_[size_t(thread_id)] != 0) return track_of_thread_[size_t(thread_id)];
  std::string name;
  if (const auto known = threads_.find(thread_id); known != threads_.end()) {
    proc_id = known->second.proc_id;
    tid = known->second.tid;
    name = known->second.name;
  }
  const TrackId parent = process(proc_id, pid);
  TrackId& found = thread_tracks_[{parent, thread_id, tid}];
  if (found == 0) {
    const Track of = tracks_[parent - 1];
    const bool is_first = of.kind == TrackKind::kProcess && tid > 0 && taken_[{of.pid, tid}]++ == 0;
    if (!is_first) name = fmt::format("{} (tid {}, thread {} of the trace)", name, tid, thread_id);
    found = make(parent, is_first ? TrackKind::kThread : TrackKind::kRows, std::move(name), of.pid, tid);
  }
  if (thread_id > 0) track_of_thread_[size_t(thread_id)] = found;
  return found;
}

TrackId Tracks::gpu(int64_t gpu_id) {
  const auto known = gpus_.find(gpu_id);
  return child(0, TrackKind::kGroup, known == gpus_.end() ? "GPU unknown" : known->second);
}

TrackId Tracks::of_key(TrackId group, const TimelineTable& table, const OrderedRows& row) {
  std::string name;
  for (const size_t key : table.keys) {
    if (row.is_null(key)) continue;
    if (!name.empty()) name += ' ';
    const Values& values = row.values(key);
    name += values.kind() == Values::Kind::kText ? std::string(values.text(row.row()))
                                                 : fmt::format("{}", values.number(row.row()));
  }
  return name.empty() ? group : child(group, TrackKind::kGroup, name);
}

TrackId Tracks::thread_of(const TimelineTable& table, const OrderedRows& row) {
  const CommonColumns& at = table.at;
  return thread(row.number(at.thread_id), row.number(at.proc_id), row.number(at.pid), row.number(at.tid));
}

TrackId Tracks::of_row(const TimelineTable& table, const OrderedRows& row) {
  const CommonColumns& at = table.at;
  const auto of_process = [&] { return process(row.number(at.proc_id), row.number(at.pid)); };
  const TrackKind kind = table.form->shape == Shape::kCounter ? TrackKind::kGroup : TrackKind::kRows;
  switch (table.form->place) {
    case Place::kThread: {
      const std::string_view scope = row.text(at.scope);
      if (scope == "run") return child(0, kind, "log");
      const bool is_of_process =
          scope == "process" || !row.is_null(at.batch_id) || (row.is_null(at.tid) && row.is_null(at.thread_id));
      if (is_of_process)
        return *table.form->track == '\0' ? of_process() : child(of_process(), kind, table.form->track);
      return thread_of(table, row);
    }
    case Place::kProcess:
      if (row.number(at.proc_id) == 0 && row.number(at.pid) == 0) return child(0, kind, table.form->track);
      return child(of_process(), kind, table.form->track);
    case Place::kStream: {
      const int64_t gpu_id = row.number(at.gpu_id), proc_id = row.number(at.proc_id);
      const int64_t context = row.number(at.context), stream = row.number(at.stream);
      TrackId& found = streams_[{gpu_id, proc_id, context, stream}];
      if (found == 0) {
        const int64_t pid = row.number(at.pid);
        found = child(gpu(gpu_id), kind, fmt::format("pid {} context {} stream {}", pid, context, stream));
      }
      return found;
    }
    case Place::kGpu:
      return *table.form->track == '\0' ? gpu(row.number(at.gpu_id))
                                        : child(gpu(row.number(at.gpu_id)), kind, table.form->track);
    case Place::kDevice: {
      const auto known = devices_.find(row.number(at.dev));
      const std::string name = known == devices_.end() ? fmt::format("device {}", row.number(at.dev)) : known->second;
      return child(child(0, TrackKind::kGroup, "block devices"), kind, name);
    }
    case Place::kRun: break;
  }
  return child(0, kind, table.form->track);
}

}  // namespace mlrun::exchange
