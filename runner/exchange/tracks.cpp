// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/tracks.h"

#include <fmt/format.h>

#include "runner/exchange/each_row.h"
#include "runner/exchange/short_text.h"

namespace mlrun::exchange {

namespace {

// Commands may be as long as the kernel allows.
std::string short_name(std::string_view name) {
  constexpr size_t kMost = 80;
  return name.size() <= kMost ? std::string(name) : std::string(front_of(name, kMost)) + "…";
}

}  // namespace

Status Tracks::load(Export& job) {
  for (const ExportNode& node : job.nodes()) node_prefixes_[node.id] = node.id == 0 ? "" : node.name + ": ";
  auto read = each_row(job, "process", {"proc_id", "pid", "command", "role", "node_id"}, [&](const Row& row) {
    std::string name = node_prefixes_[row.number(4)] + short_name(row.text(2));
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
  read = each_row(job, "device", {"dev", "name", "node_id"}, [&](const Row& row) {
    devices_[{row.number(2), row.number(0)}] = std::string(row.text(1));
  });
  if (!read) return tl::make_unexpected(read.error());
  return {};
}

void Tracks::begin_node(const ExportNode& node) {
  node_id_ = node.id;
  node_prefix_ = node_prefixes_[node.id];
}

TrackId Tracks::make(TrackId parent, TrackKind kind, std::string name, int64_t pid, int64_t tid) {
  const auto id = TrackId(tracks_.size() + 1);
  if (kind == TrackKind::kProcess && pid == 0) pid = kFirstMadeUpId + id;
  if (kind == TrackKind::kThread && tid == 0) tid = kFirstMadeUpId + id;
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

// Viewers identify a process by its pid. A second process with the same pid, such as of another node, or one without, gets a made-up pid.
TrackId Tracks::process(int64_t proc_id, int64_t pid) {
  TrackId& found = process_tracks_[{proc_id, proc_id == 0 ? pid : 0}];
  if (found != 0) return found;
  std::string name;
  if (const auto known = processes_.find(proc_id); known != processes_.end()) {
    pid = known->second.pid;
    name = known->second.name;
  }
  const bool is_first = pid > 0 && taken_[{pid, 0}]++ == 0;
  if (pid > 0 && !is_first) name += fmt::format(" (pid {}, process {} of the trace)", pid, proc_id);
  if (pid == 0 && name.empty()) name = node_prefix_ + "no process";
  return found = make(0, TrackKind::kProcess, std::move(name), is_first ? pid : 0, 0);
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
    const int64_t of_pid = tracks_[parent - 1].pid;
    const bool is_first = tid > 0 && taken_[{of_pid, tid}]++ == 0;
    if (tid > 0 && !is_first) name += fmt::format(" (tid {}, thread {} of the trace)", tid, thread_id);
    found = make(parent, TrackKind::kThread, std::move(name), of_pid, is_first ? tid : 0);
  }
  if (thread_id > 0) track_of_thread_[size_t(thread_id)] = found;
  return found;
}

// Several GPUs may have the same name, such as the MIG instances of one, so that a GPU is found by its id.
TrackId Tracks::gpu(int64_t gpu_id) {
  const auto known = gpus_.find(gpu_id);
  if (known == gpus_.end()) return of_node(TrackKind::kGroup, "GPU unknown");
  TrackId& found = gpu_tracks_[gpu_id];
  if (found == 0) found = make(0, TrackKind::kGroup, node_prefix_ + known->second, 0, 0);
  return found;
}

TrackId Tracks::stream(int64_t gpu_id, int64_t proc_id, int64_t context, int64_t stream, int64_t pid) {
  TrackId& found = streams_[{gpu_id, proc_id, context, stream}];
  if (found == 0)
    found = make(gpu(gpu_id), TrackKind::kRows, fmt::format("pid {} context {} stream {}", pid, context, stream), 0, 0);
  return found;
}

TrackId Tracks::of_key(TrackId group, const TimelineTable& table, const OrderedRows& row) {
  std::string name, key_text;
  for (const size_t key : table.keys) {
    const Values& values = row.values(key);
    const std::string text = row.is_null(key)                       ? ""
                             : values.kind() == Values::Kind::kText ? std::string(values.text(row.row()))
                                                                    : fmt::format("{}", values.number(row.row()));
    if (!name.empty() && !text.empty()) name += ' ';
    name += text;
    key_text += fmt::format("{} {}", text.size(), text);  // with sizes: "a b", "c" differ from "a", "b c"
  }
  if (name.empty()) return group;
  TrackId& found = key_tracks_[{group, key_text}];
  if (found == 0) found = make(group, TrackKind::kGroup, std::move(name), 0, 0);
  return found;
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
      if (scope == "run") return of_node(kind, "log");
      // Asynchronous slices may cross those of their thread, so they have their own track.
      if (!row.is_null(at.track)) return child(of_process(), kind, "asynchronous");
      const bool is_of_process =
          scope == "process" || !row.is_null(at.batch_id) || (row.is_null(at.tid) && row.is_null(at.thread_id));
      if (is_of_process)
        return *table.form->track == '\0' ? of_process() : child(of_process(), kind, table.form->track);
      return thread_of(table, row);
    }
    case Place::kProcess:
      if (row.number(at.proc_id) == 0 && row.number(at.pid) == 0) return of_node(kind, table.form->track);
      return child(of_process(), kind, table.form->track);
    case Place::kStream:
      return stream(row.number(at.gpu_id), row.number(at.proc_id), row.number(at.context), row.number(at.stream),
                    row.number(at.pid));
    case Place::kGpu:
      return *table.form->track == '\0' ? gpu(row.number(at.gpu_id))
                                        : child(gpu(row.number(at.gpu_id)), kind, table.form->track);
    case Place::kDevice: {
      const auto known = devices_.find({node_id_, row.number(at.dev)});
      const std::string name = known == devices_.end() ? fmt::format("device {}", row.number(at.dev)) : known->second;
      return child(of_node(TrackKind::kGroup, "block devices"), kind, name);
    }
    case Place::kRun: break;
  }
  return of_node(kind, table.form->track);
}

}  // namespace mlrun::exchange
