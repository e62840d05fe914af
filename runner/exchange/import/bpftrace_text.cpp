// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/bpftrace_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "runner/exchange/import/call_names.h"
#include "runner/exchange/import/file_lines.h"
#include "runner/exchange/import/json_members.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr std::string_view kGaps = " \t";

// "TIMESTAMP PID OFFSET SIZE (B) LAT(ns) FILENAME": the units in parentheses are no columns.
std::vector<std::string> columns_of(std::string_view heading) {
  std::vector<std::string> columns;
  for (std::string_view word : util::split(heading, kGaps)) {
    word = word.substr(0, word.find('('));
    if (!word.empty()) columns.emplace_back(word);
  }
  return columns;
}

bool is_heading(std::string_view line) {
  const size_t at = line.find_first_not_of(kGaps);
  return at != std::string_view::npos && line.substr(at).starts_with("TIMESTAMP");
}

// A whole number. bpftrace prints negative numbers as unsigned 64-bit ones; they become negative again.
std::optional<int64_t> whole(std::string_view text) {
  if (const auto large = util::whole_number<uint64_t>(text)) return static_cast<int64_t>(*large);
  return util::whole_number<int64_t>(text);
}

class BpftraceReader {
 public:
  BpftraceReader(std::string path, TraceMaker& to) : path_(std::move(path)), to_(to) {}
  Status run();

 private:
  Status take(std::string_view line);
  Status block(const model::Origin& origin, int64_t end_ns);
  Status call(const model::Origin& origin, int64_t dur_ns, std::string_view func);
  Status rest(const model::Origin& origin, const char* kind);
  bool fields_of(std::string_view line);
  [[nodiscard]] bool has_numbers() const;
  [[nodiscard]] bool has(const std::string& column) const { return fields_.contains(column); }
  [[nodiscard]] std::string_view text(const std::string& column) const {
    const auto found = fields_.find(column);
    return found == fields_.end() ? std::string_view() : found->second;
  }
  [[nodiscard]] int64_t number(const std::string& column, int64_t none) const {
    return whole(text(column)).value_or(none);
  }
  [[nodiscard]] std::string_view func_of_file() const;

  std::string path_;
  TraceMaker& to_;
  std::vector<std::string> columns_;
  std::map<std::string, std::string_view> fields_;
};

// The function of a line: from the column that names it, else from the other columns or the name of the file.
std::string_view BpftraceReader::func_of_file() const {
  const std::string_view name = util::base_name(path_);
  if (has("FUNC")) return text("FUNC");
  if (has("FUNCTION")) return text("FUNCTION");
  if (has("R/W")) return text("R/W").starts_with('R') ? "read" : "write";
  if (has("FULLPATH") || name.find("open") != std::string_view::npos) return "openat";
  if (name.find("write") != std::string_view::npos || has("SIZE") || has("REQ")) return "write";
  if (name.find("read") != std::string_view::npos || has("RET")) return "read";
  if (name.find("munmap") != std::string_view::npos) return "munmap";
  if (name.find("mmap") != std::string_view::npos) return "mmap";
  return name.find("close") != std::string_view::npos ? "close" : std::string_view();
}

// Splits a line into fields. Names of processes and files may have blanks, and names of files may be empty.
bool BpftraceReader::fields_of(std::string_view line) {
  fields_.clear();
  const auto words = util::split(line, kGaps);
  const size_t columns = columns_.size();
  if (words.size() + 1 < columns || words.empty()) return false;
  const std::string& last = columns_.back();
  const bool ends_with_name = last == "FILENAME" || last == "FULLPATH" || last == "FILE";
  const auto comm = static_cast<size_t>(std::find(columns_.begin(), columns_.end(), "COMM") - columns_.begin());
  const size_t more = words.size() > columns ? words.size() - columns : 0;
  const auto between = [&](size_t from, size_t to) {
    return std::string_view(words[from].data(),
                            static_cast<size_t>(words[to].data() + words[to].size() - words[from].data()));
  };
  // COMM takes so many blanks that the columns of numbers have numbers; the other blanks are in the name at the end.
  for (size_t in_comm = 0; in_comm <= (comm < columns ? more : 0); ++in_comm) {
    if (in_comm < more && !ends_with_name) continue;
    for (size_t i = 0, word = 0; i < columns; ++i, ++word) {
      const size_t first = word;
      if (i == comm) word += in_comm;
      if (i + 1 == columns && ends_with_name && word < words.size()) word = words.size() - 1;
      fields_[columns_[i]] = word < words.size() ? between(first, word) : std::string_view();
    }
    if (has_numbers()) return true;
  }
  return more == 0;
}

// Whether the columns after COMM that must be numbers are numbers.
bool BpftraceReader::has_numbers() const {
  constexpr std::array<const char*, 8> kNumbers = {"OFFSET", "SIZE", "RET", "REQ", "LAT", "BYTES", "SECTOR", "FD"};
  return std::all_of(kNumbers.begin(), kNumbers.end(),
                     [&](const char* name) { return text(name).empty() || whole(text(name)); });
}

Status BpftraceReader::rest(const model::Origin& origin, const char* kind) {
  static const std::map<std::string, bool> kInRow = {
      {"TIMESTAMP", true}, {"PID", true},    {"TID", true},       {"LAT", true},     {"OFFSET", true},
      {"RET", true},       {"FD", true},     {"FILENAME", true},  {"SIZE", true},    {"REQ", true},
      {"BYTES", true},     {"SECTOR", true}, {"REQUESTED", true}, {"RETURNED", true}};
  std::string json;
  for (const auto& [name, value] : fields_) {
    if (kInRow.contains(name) && !(name == "FILENAME" && has("FULLPATH"))) continue;
    json += (json.empty() ? "{" : ",") + quoted_json(util::escaped_utf8(name)) + ":" +
            quoted_json(util::escaped_utf8(value));
  }
  if (json.empty()) return {};
  json += '}';
  model::OtherEventRow row;
  row.origin = origin;
  row.kind = kind;
  row.args = json;
  return to_.add(row, 0);
}

Status BpftraceReader::block(const model::Origin& origin, int64_t end_ns) {
  const bool is_write = text("T").starts_with('W') || text("T") == "1";
  if (Status added = to_.add_block(0, origin, end_ns, number("SECTOR", -1), number("BYTES", 0), is_write); !added)
    return added;
  return rest(origin, "block");
}

Status BpftraceReader::call(const model::Origin& origin, int64_t dur_ns, std::string_view func) {
  const auto known = func_number(func.substr(0, func.find('(')));
  std::string_view path = text("FULLPATH");
  if (path.empty()) path = text("FILENAME");
  if (path.empty()) path = text("FILE");
  if (!known) {
    const std::string name = util::escaped_utf8(func.empty() ? "event" : func),
                      args = "{\"file\":" + quoted_json(util::escaped_utf8(path)) + "}";
    model::SliceRow row;
    row.origin = origin;
    row.dur_ns = dur_ns;
    row.kind = model::SliceKind::kSyscall;
    row.name = name;
    row.category = "bpftrace";
    row.args = args;
    if (Status added = to_.add(row); !added) return added;
    return rest(origin, "slice");
  }
  model::CallRow row;
  row.origin = origin;
  row.dur_ns = dur_ns;
  row.func = *known;
  row.via = model::Via::kSyscall;
  const bool opens = func.starts_with("open");
  row.ret = number(opens ? "FD" : "RET", number("RETURNED", number("SIZE", 0)));
  if (row.ret < 0) {
    row.err = static_cast<int32_t>(std::min<int64_t>(-row.ret, 4095));
    row.ret = -1;
  }
  row.fd = static_cast<int32_t>(opens ? std::max<int64_t>(row.ret, -1) : number("FD", -1));
  row.requested = number("REQ", number("REQUESTED", -1));
  if (has("OFFSET")) {
    row.offset = number("OFFSET", -1);
    row.offset_source = model::OffsetSource::kKernel;
  }
  if (!path.empty()) {
    row.file_id = to_.ids().file(path, model::FileKind::kUnknown);
    row.file_kind = model::FileKind::kRegular;
  }
  if (Status added = to_.add(row); !added) return added;
  return rest(origin, "call");
}

Status BpftraceReader::take(std::string_view line) {
  if (line.find_first_not_of(kGaps) == std::string_view::npos) return {};
  if (is_heading(line)) {
    columns_ = columns_of(line);
    return {};
  }
  // bpftrace prints "Lost 12 events" when its buffer was full.
  if (const auto words = util::split(line, kGaps); words.size() == 3 && words[0] == "Lost" && words[2] == "events") {
    to_.file().leave_out("lost by bpftrace itself", std::clamp<int64_t>(whole(words[1]).value_or(1), 1, INT32_MAX));
    return {};
  }
  const auto end_ns = fields_of(line) ? whole(text("TIMESTAMP")) : std::nullopt;
  if (!end_ns || *end_ns < 0) {
    to_.file().leave_out("a line whose columns differ from the heading");
    return {};
  }
  const std::string_view id = has("TID") ? text("TID") : text("PID");
  const auto pid = whole(has("PID") ? text("PID") : id), tid = whole(id);
  const int64_t latency = number("LAT", number("QLAT", 0));
  if (!pid || latency < 0 || latency > *end_ns) {
    to_.file().leave_out(pid ? "a duration below 0, or longer than the time since the boot" : "no process id");
    return {};
  }
  const int32_t proc_id = to_.ids().process(*pid);
  const int32_t thread_id = has("TID") && tid ? to_.ids().thread(proc_id, *tid) : to_.ids().thread(proc_id, *pid);
  if (has("COMM")) to_.ids().name_thread(thread_id, text("COMM"));
  const model::Origin origin = to_.ids().origin(*end_ns - latency, proc_id, thread_id);
  if (has("DISK") || (has("SECTOR") && has("BYTES"))) return block(origin, *end_ns);
  return call(origin, latency, func_of_file());
}

Status BpftraceReader::run() {
  to_.file().clock = FileClock::kMonotonic;
  return for_each_line(path_, to_, [&](std::string_view line, int64_t) -> Status {
    // Lines before the heading, such as "Attaching 3 probes..." or a title, are skipped.
    return columns_.empty() && !is_heading(line) ? Status() : take(line);
  });
}

}  // namespace

bool looks_like_bpftrace(const std::string& text) {
  size_t at = 0;
  for (int lines = 0; lines < 20 && at < text.size(); ++lines) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (is_heading(line) && columns_of(line).size() > 2) return true;
    at = end + 1;
  }
  return false;
}

Status read_bpftrace(const std::string& path, TraceMaker& to) { return BpftraceReader(path, to).run(); }

}  // namespace mlrun::exchange
