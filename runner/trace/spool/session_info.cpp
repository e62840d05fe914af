// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/session_info.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/lexical_path.h"
#include "runner/util/text.h"

namespace mlrun::trace {

namespace {

uint64_t count_of(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); }

void add_anchor(const model::ClockReading& reading, std::vector<mlrun_frame_anchor>& anchors) {
  const mlrun_frame_anchor anchor{count_of(reading.tsc), count_of(reading.width_ticks),
                                  count_of(reading.monotonic_ns.value_or(0)), count_of(reading.realtime_ns.value_or(0)),
                                  count_of(reading.boottime_ns)};
  if (anchor.tsc != 0 && anchor.monotonic_ns != 0) anchors.push_back(anchor);
}

std::vector<NamedInode> named(const std::vector<model::OpenFile>& files) {
  std::vector<NamedInode> inodes;
  for (const model::OpenFile& file : files) {
    if (file.path.empty()) continue;
    inodes.push_back({static_cast<uint32_t>(count_of(file.device)), static_cast<uint64_t>(file.inode),
                      std::string(util::without_deleted(util::unescaped_utf8(file.path)))});
  }
  return inodes;
}

}  // namespace

Result<SessionInfo> SessionInfo::read(const std::string& trace_folder) {
  const std::string path = trace_folder + "/" + MLRUN_SESSION_FILE;
  struct stat status {};
  if (::stat(trace_folder.c_str(), &status) != 0) return fail_errno("open the trace folder " + trace_folder, errno);
  const auto text = util::read_file(path);
  if (!text)
    return fail(text.error().text + "; a merge needs a trace folder that is not merged yet: check " + trace_folder);
  nlohmann::json document = util::parse_json(*text);
  if (!document.is_object()) return fail(path + " is damaged: it is not a JSON object");
  SessionInfo info;
  info.run = model::run_of(std::move(document));
  const model::Run& run = info.run;
  if (run.clock.kind == "monotonic") info.clock_kind = MLRUN_CLOCK_MONOTONIC;
  add_anchor(run.clock.start, info.anchors);
  add_anchor(run.clock.end, info.anchors);
  info.alloc_sample_bytes = std::max<int64_t>(run.options.alloc_sample_bytes, 0);
  info.fold_ns = std::max<int64_t>(run.options.fold_ns.value_or(0), 0);
  info.start_ns = run.start_ns.value_or(0);
  info.end_ns = run.end_ns.value_or(0);
  info.standard_files = named(run.standard_files);
  for (const std::string& log : run.mllog)
    info.mllog.push_back(util::unescaped_utf8(util::absolute_path(run.cwd, log)));
  return info;
}

}  // namespace mlrun::trace
