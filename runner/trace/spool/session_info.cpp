// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/session_info.h"

#include <sys/stat.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/util/file_io.h"
#include "runner/util/lexical_path.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

const json* find(const json& object, const char* pointer) {
  const json::json_pointer at(pointer);
  return object.contains(at) ? &object.at(at) : nullptr;
}

uint64_t unsigned_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

void add_anchor(const json& all, const char* pointer, std::vector<mlrun_frame_anchor>& anchors) {
  const json* look = find(all, pointer);
  if (!look || !look->is_object()) return;
  const mlrun_frame_anchor anchor{unsigned_in(*look, "tsc"), unsigned_in(*look, "width_ticks"),
                                  unsigned_in(*look, "monotonic_ns"), unsigned_in(*look, "realtime_ns"),
                                  unsigned_in(*look, "boottime_ns")};
  if (anchor.tsc != 0 && anchor.monotonic_ns != 0) anchors.push_back(anchor);
}

std::vector<NamedInode> files_in(const json& all) {
  std::vector<NamedInode> files;
  const json* list = find(all, "/standard_files");
  if (!list || !list->is_array()) return files;
  for (const json& entry : *list) {
    if (!entry.is_object()) continue;
    const auto path = entry.find("path");
    if (path == entry.end() || !path->is_string()) continue;
    files.push_back({static_cast<uint32_t>(unsigned_in(entry, "device")), unsigned_in(entry, "inode"),
                     std::string(without_deleted(path->get<std::string>()))});
  }
  return files;
}

}  // namespace

int64_t SessionInfo::number(const char* pointer, int64_t otherwise) const {
  const json* found = find(*all, pointer);
  return found && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

std::string SessionInfo::text(const char* pointer) const {
  const json* found = find(*all, pointer);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}

bool SessionInfo::has_stream(const char* name) const {
  const json* streams = find(*all, "/options/streams");
  return streams && std::find(streams->begin(), streams->end(), name) != streams->end();
}

bool SessionInfo::asked_for(const char* name) const {
  const json* streams = find(*all, "/options/asked_streams");
  return streams && std::find(streams->begin(), streams->end(), name) != streams->end();
}

bool SessionInfo::observes() const { return all->contains("observed"); }

Result<SessionInfo> SessionInfo::read(const std::string& trace_folder) {
  const std::string path = trace_folder + "/" + MLRUN_SESSION_FILE;
  struct stat status {};
  if (::stat(trace_folder.c_str(), &status) != 0) return fail_errno("open the trace folder " + trace_folder, errno);
  const auto text = util::read_file(path);
  if (!text)
    return fail(text.error().text + "; is " + trace_folder + " a trace folder whose merge is still to be done?");
  SessionInfo info;
  info.all = json::parse(*text, nullptr, false);
  if (!info.all->is_object()) return fail(path + " is damaged: it is no JSON object");

  if (info.text("/clock/kind") == "monotonic") info.clock_kind = MLRUN_CLOCK_MONOTONIC;
  add_anchor(*info.all, "/clock/start", info.anchors);
  add_anchor(*info.all, "/clock/end", info.anchors);
  info.alloc_min_bytes = info.number("/options/alloc_min_bytes", info.alloc_min_bytes);
  info.alloc_sample_bytes = std::max<int64_t>(info.number("/options/alloc_sample_bytes", 0), 0);
  info.fold_ns = std::max<int64_t>(info.number("/options/fold_ns", 0), 0);
  const json* summary_only = find(*info.all, "/options/summary_only");
  info.summary_only = summary_only && summary_only->is_boolean() && summary_only->get<bool>();
  info.start_ns = info.number("/start_ns", 0);
  info.end_ns = info.number("/end_ns", 0);
  info.wait_status = info.number("/wait_status", -1);
  info.standard_files = files_in(*info.all);
  const json* logs = find(*info.all, "/mllog");
  if (logs && logs->is_array()) {
    for (const json& log : *logs) {
      if (log.is_string()) info.mllog.push_back(absolute_path(info.text("/cwd"), log.get<std::string>()));
    }
  }
  return info;
}

}  // namespace mlrun::trace
