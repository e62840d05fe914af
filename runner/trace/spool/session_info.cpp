// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/session_info.h"

#include <sys/stat.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/lexical_path.h"

namespace mlrun::trace {

namespace {

using nlohmann::json;

void add_anchor(const json& all, const char* pointer, std::vector<mlrun_frame_anchor>& anchors) {
  const json& reading = util::json_at(all, pointer);
  const mlrun_frame_anchor anchor{util::count_at(reading, "/tsc"), util::count_at(reading, "/width_ticks"),
                                  util::count_at(reading, "/monotonic_ns"), util::count_at(reading, "/realtime_ns"),
                                  util::count_at(reading, "/boottime_ns")};
  if (anchor.tsc != 0 && anchor.monotonic_ns != 0) anchors.push_back(anchor);
}

std::vector<NamedInode> files_in(const json& all) {
  std::vector<NamedInode> files;
  for (const json& entry : util::list_at(all, "/standard_files")) {
    const std::string path = util::text_at(entry, "/path");
    if (path.empty()) continue;
    files.push_back({static_cast<uint32_t>(util::count_at(entry, "/device")), util::count_at(entry, "/inode"),
                     std::string(without_deleted(path))});
  }
  return files;
}

}  // namespace

int64_t SessionInfo::number(const char* pointer, int64_t otherwise) const {
  return util::integer_at(*all, pointer, otherwise);
}

std::string SessionInfo::text(const char* pointer) const { return util::text_at(*all, pointer); }

const json& SessionInfo::list(const char* pointer) const { return util::list_at(*all, pointer); }

bool SessionInfo::has_stream(std::string_view name) const { return util::has_text_at(*all, "/options/streams", name); }

bool SessionInfo::asked_for(std::string_view name) const {
  return util::has_text_at(*all, "/options/asked_streams", name);
}

bool SessionInfo::has_kernel_side() const { return text("/kernel_side/state") == "recorded"; }

std::string SessionInfo::attached_by(std::string_view signal) const {
  for (const json& entry : list("/kernel_side/signals")) {
    std::string way = util::text_at(entry, "/way");
    if (!way.empty() && util::text_at(entry, "/signal") == signal) return way;
  }
  return {};
}

bool SessionInfo::has_program(std::string_view event) const {
  const json& programs = list("/kernel_side/programs");
  return std::any_of(programs.begin(), programs.end(), [&](const json& program) {
    return util::text_at(program, "/event") == event && !program.contains("missing");
  });
}

bool SessionInfo::observes() const { return all->contains("observed"); }

Result<SessionInfo> SessionInfo::read(const std::string& trace_folder) {
  const std::string path = trace_folder + "/" + MLRUN_SESSION_FILE;
  struct stat status {};
  if (::stat(trace_folder.c_str(), &status) != 0) return fail_errno("open the trace folder " + trace_folder, errno);
  const auto text = util::read_file(path);
  if (!text)
    return fail(text.error().text + "; a merge needs a trace folder that is not merged yet: check " + trace_folder);
  SessionInfo info;
  info.all = util::parse_json(*text);
  if (!info.all->is_object()) return fail(path + " is damaged: it is not a JSON object");

  if (info.text("/clock/kind") == "monotonic") info.clock_kind = MLRUN_CLOCK_MONOTONIC;
  add_anchor(*info.all, "/clock/start", info.anchors);
  add_anchor(*info.all, "/clock/end", info.anchors);
  info.alloc_min_bytes = info.number("/options/alloc_min_bytes", info.alloc_min_bytes);
  info.alloc_sample_bytes = std::max<int64_t>(info.number("/options/alloc_sample_bytes", 0), 0);
  info.fold_ns = std::max<int64_t>(info.number("/options/fold_ns", 0), 0);
  info.summary_only = util::flag_at(*info.all, "/options/summary_only");
  info.start_ns = info.number("/start_ns", 0);
  info.end_ns = info.number("/end_ns", 0);
  info.wait_status = info.number("/wait_status", -1);
  info.standard_files = files_in(*info.all);
  for (const json& log : info.list("/mllog")) {
    if (log.is_string()) info.mllog.push_back(absolute_path(info.text("/cwd"), log.get<std::string>()));
  }
  return info;
}

}  // namespace mlrun::trace
