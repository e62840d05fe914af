// SPDX-License-Identifier: Apache-2.0
#include "runner/session/session_file.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/session.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/proc_files.h"

namespace mlrun::session {

namespace {

constexpr int kSchemaVersion = 1;

std::string path_in(const std::string& trace_folder) { return trace_folder + "/" + MLRUN_SESSION_FILE; }

uint64_t start_ticks_of(uint32_t pid) {
  const auto stat = util::read_proc_stat(pid);
  return stat && !stat->ended ? stat->start_ticks : 0;
}

}  // namespace

SessionFile::SessionFile(const std::string& trace_folder) : path_(path_in(trace_folder)) {
  const auto pid = static_cast<uint32_t>(::getpid());
  data = {{"schema_version", kSchemaVersion},
          {"state", "running"},
          {"leader", {{"pid", pid}, {"start_ticks", start_ticks_of(pid)}, {"boot_id", util::boot_id()}}}};
}

Result<SessionFile> SessionFile::read(const std::string& trace_folder) {
  SessionFile file;
  file.path_ = path_in(trace_folder);
  const auto text = util::read_file(file.path_);
  if (!text) return tl::make_unexpected(text.error());
  file.data = util::parse_json(*text);
  if (!file.data.is_object()) return fail(file.path_ + " is damaged: it is no JSON object");
  const auto version = file.data.find("schema_version");
  if (version != file.data.end() && version->is_number() && version->get<int64_t>() > kSchemaVersion) {
    return fail(fmt::format("{} was recorded by a newer mlrun (schema {}; this one reads up to {}): use that version",
                            trace_folder, version->get<int64_t>(), kSchemaVersion));
  }
  return file;
}

Status SessionFile::write() const { return util::write_atomically(path_, util::json_text(data, 2) + "\n", 0600); }

void SessionFile::remove() const { ::unlink(path_.c_str()); }

uint32_t SessionFile::leader_pid() const { return static_cast<uint32_t>(util::count_at(data, "/leader/pid")); }

bool SessionFile::same_boot() const { return util::text_at(data, "/leader/boot_id") == util::boot_id(); }

bool SessionFile::leader_lives() const {
  const uint64_t ticks = util::count_at(data, "/leader/start_ticks");
  return same_boot() && leader_pid() != 0 && ticks != 0 && start_ticks_of(leader_pid()) == ticks;
}

}  // namespace mlrun::session
