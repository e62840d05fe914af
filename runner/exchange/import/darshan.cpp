// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/darshan.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/exchange/import/call_names.h"
#include "runner/exchange/import/child_text.h"
#include "runner/exchange/import/file_lines.h"
#include "runner/exchange/import/json_members.h"
#include "runner/util/json_at.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

// Prints a log line by line, fields separated by tabs:
//   J nprocs job      F module rank {"file", "host"}   the file of the following R and W
//   C module rank counters      P module: incomplete      U module: not readable
//   R, W offset length begin end      in ns since 1970
// Modules are read in the order of the log, whose library cannot go back.
constexpr const char* kDarshanScript = R"PYTHON(
import json, sys
sys.path[:] = [folder for folder in sys.path if folder]
try:
    from darshan.backend import cffi_backend as backend
except Exception as error:
    sys.exit(f"its Python package is needed: pip install darshan ({type(error).__name__}: {error})")

def text(value):
    return json.dumps(value, default=lambda other: other.tolist() if hasattr(other, "tolist") else str(other))

def out(*fields):
    print(*fields, sep="\t")

log = backend.log_open(sys.argv[1])
if not bool(log["handle"]):
    sys.exit("it is not a log of Darshan, or is damaged")
job = backend.log_get_job(log)
out("J", job["nprocs"], text(job | {"exe": backend.log_get_exe(log)}))
start = job["start_time_sec"] * 10**9 + job.get("start_time_nsec", 0)
names = backend.log_get_name_records(log)
for module, about in sorted(backend.log_get_modules(log).items(), key=lambda item: item[1]["idx"]):
    if about["partial_flag"]:
        out("P", module)
    try:
        while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
            file = names.get(record["id"], "")
            if not module.startswith("DXT_"):
                out("C", module, record["rank"], text({"file": file} | record))
                continue
            out("F", module, record["rank"], text({"file": file, "host": record["hostname"]}))
            for letter, segments in (("R", record["read_segments"]), ("W", record["write_segments"])):
                for one in segments:
                    begin, end = (start + round(one[key] * 1e9) for key in ("start_time", "end_time"))
                    out(letter, one["offset"], one["length"], begin, end)
    except (KeyError, ValueError, TypeError):
        out("U", module)
)PYTHON";

constexpr int64_t kLatestDarshanNs = INT64_MAX / 4;

std::vector<std::string_view> fields_between_tabs(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t at = 0;;) {
    const size_t tab = line.find('\t', at);
    fields.push_back(line.substr(at, tab == std::string_view::npos ? tab : tab - at));
    if (tab == std::string_view::npos) return fields;
    at = tab + 1;
  }
}

class DarshanReader {
 public:
  explicit DarshanReader(TraceMaker& to) : to_(to) {}

  Status line(std::string_view text) {
    const auto fields = fields_between_tabs(text);
    const std::string_view kind = fields[0];
    if (kind == "J" && fields.size() == 3) return job(fields);
    if (kind == "F" && fields.size() == 4) return begin_file(fields);
    if (kind == "C" && fields.size() == 4) return counters(fields);
    if ((kind == "R" || kind == "W") && fields.size() == 5) return segment(fields);
    if (kind == "P" && fields.size() == 2) {
      ++to_.file().remarks["incomplete, since Darshan's memory was full: module " + std::string(fields[1])];
      return {};
    }
    if (kind == "U" && fields.size() == 2) {
      ++to_.file().remarks["not readable by Darshan's Python package: module " + std::string(fields[1])];
      return {};
    }
    to_.file().leave_out("an unknown line from Darshan's Python package");
    return {};
  }

 private:
  Status job(const std::vector<std::string_view>& fields) {
    processes_ = json_integer(fields[1], -1);
    to_.file().metadata = util::parse_json(fields[2]);
    const auto& metadata = to_.file().metadata;
    if (metadata.is_object() && metadata.contains("exe") && metadata["exe"].is_string()) command_ = metadata["exe"];
    return {};
  }
  // A record of all ranks (rank below 0) gets process 0 and thread 0.
  model::Origin origin(int64_t ts_ns) {
    if (rank_ < 0) return to_.ids().origin(ts_ns, 0, 0);
    const std::string name = "rank " + std::to_string(rank_);
    const int32_t proc_id = to_.ids().process(name), thread_id = to_.ids().thread(proc_id, name);
    to_.ids().set_rank(proc_id, rank_, processes_);
    to_.ids().name_process(proc_id, command_);
    return to_.ids().origin(ts_ns, proc_id, thread_id);
  }
  void set_rank(std::string_view text) { rank_ = std::min<int64_t>(json_integer(text, -1), INT32_MAX); }
  Status begin_file(const std::vector<std::string_view>& fields) {
    module_ = fields[1];
    set_rank(fields[2]);
    members_.visit(fields[3], [&](const JsonMember& member) {
      if (member.key == "file") path_ = member.text;
    });
    return add_record("darshan " + module_, fields[3], 0);
  }
  Status counters(const std::vector<std::string_view>& fields) {
    set_rank(fields[2]);
    return add_record("darshan " + std::string(fields[1]), fields[3], 1);
  }
  Status add_record(const std::string& kind, std::string_view args, int64_t of_events) {
    model::OtherEventRow row;
    row.origin = origin(0);
    row.has_time = false;
    row.kind = kind;
    row.args = args;
    return to_.add(row, of_events);
  }
  Status segment(const std::vector<std::string_view>& fields) {
    const int64_t begin_ns = json_integer(fields[3], -1), end_ns = json_integer(fields[4], -1);
    if (begin_ns < 0 || end_ns < begin_ns || end_ns > kLatestDarshanNs) {
      to_.file().leave_out("a time out of range, or an end before the begin");
      return {};
    }
    const bool is_read = fields[0] == "R";
    if (module_ != "DXT_POSIX") {
      const std::string args = "{\"file\":" + quoted_json(util::escaped_utf8(path_)) +
                               ",\"offset\":" + std::string(fields[1]) + ",\"length\":" + std::string(fields[2]) + "}";
      model::SliceRow row;
      row.origin = origin(begin_ns);
      row.dur_ns = end_ns - begin_ns;
      row.name = is_read ? "MPI-IO read" : "MPI-IO write";
      row.category = "darshan";
      row.args = args;
      return to_.add(row);
    }
    model::CallRow row;
    row.origin = origin(begin_ns);
    row.dur_ns = end_ns - begin_ns;
    row.func = func_number(is_read ? "read" : "write").value_or(0);
    row.offset = json_integer(fields[1], -1);
    row.offset_source = model::OffsetSource::kDerived;
    row.requested = row.ret = json_integer(fields[2], -1);
    row.file_id = to_.ids().file(path_, model::FileKind::kUnknown);
    row.file_kind = model::FileKind::kRegular;
    return to_.add(row);
  }

  TraceMaker& to_;
  JsonMembers members_;
  std::string command_, module_, path_;
  int64_t processes_ = -1, rank_ = -1;
};

}  // namespace

// A version as text, then the magic number in the byte order of the machine.
bool looks_like_darshan(std::string_view head) {
  constexpr std::string_view kMagic("75d\0\0\0\0\0", 8), kSwapped("\0\0\0\0\0d57", 8);
  return head.size() > 16 && (head.substr(8, 8) == kMagic || head.substr(8, 8) == kSwapped);
}

Status read_darshan_text(Input& text, const std::string& path, TraceMaker& to) {
  to.file().clock = FileClock::kRealtime;
  to.file().has_offset = true;
  DarshanReader reader(to);
  return for_each_line(text, path, to, [&](std::string_view line, int64_t) { return reader.line(line); });
}

Status read_darshan(const std::string& path, TraceMaker& to) {
  auto child = ChildText::start({"python3", "-c", kDarshanScript, path},
                                "Darshan's Python package reads these logs: install Python, and pip install darshan");
  if (!child) return tl::make_unexpected(child.error());
  if (Status read = read_darshan_text(**child, path, to); !read) return read;
  if (Status done = (*child)->finish("cannot import " + path + ": Darshan's Python package"); !done) return done;
  // Darshan's library prints that a log is damaged, but reads on and does not fail.
  const std::string complaint = (*child)->last_complaint();
  if (complaint.find("rror") == std::string::npos) return {};
  return fail("cannot import " + path + ": damaged: " + complaint);
}

}  // namespace mlrun::exchange
