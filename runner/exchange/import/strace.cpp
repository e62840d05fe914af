// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/strace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "runner/exchange/import/call_names.h"
#include "runner/exchange/import/input.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/strace_line.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;

// What is in quotes; escapes of strace (\n, \3, \x41) become bytes.
std::string unquoted(std::string_view text) {
  if (!text.starts_with('"')) return {};
  std::string out;
  for (size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c >= '0' && c <= '7') {
      int value = 0;
      for (int n = 0; n < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++n)
        value = value * 8 + (text[i++] - '0');
      --i;
      out += static_cast<char>(value);
    } else {
      constexpr std::string_view kFrom = "ntrvfe", kTo = "\n\t\r\v\f\033";
      const size_t at = kFrom.find(c);
      out += at == std::string_view::npos ? c : kTo[at];
    }
  }
  return out;
}

struct Task {
  int32_t proc_id = 0, thread_id = 0;
  std::string tid;
};

class StraceReader {
 public:
  StraceReader(std::string path, TraceMaker& to) : path_(std::move(path)), to_(to) {}
  Status run();

 private:
  struct Begun {
    int64_t ts_ns = 0;
    std::string name, args;
  };
  using Files = std::map<int32_t, int64_t>;  // by descriptor

  Status take(const StraceLine& line, std::string_view text);
  Status add(const Task& task, int64_t ts_ns, int64_t dur_ns, std::string_view name, std::string_view args,
             const StraceLine& end);
  Status add_point(const Task& task, int64_t ts_ns, const char* kind, std::string_view text);
  Task& task(std::string_view tid);
  void fill(model::CallRow& row, std::string_view name, const std::vector<std::string_view>& args, int32_t proc_id);
  void follow(const Task& task, std::string_view name, std::string_view args, int64_t ret);
  int64_t time_of(const StraceLine& line);

  std::string path_;
  TraceMaker& to_;
  std::map<std::string, Task, std::less<>> tasks_;
  std::map<std::string, Begun> begun_;  // by thread
  std::unordered_map<int32_t, Files> files_;
  int64_t last_ns_ = 0, days_ns_ = 0;
};

Task& StraceReader::task(std::string_view tid) {
  const auto found = tasks_.find(tid);
  if (found != tasks_.end()) return found->second;
  Task& task = tasks_[std::string(tid)];
  task.tid = tid;
  task.proc_id = to_.ids().process(tid.empty() ? std::string_view("1") : tid);
  task.thread_id = to_.ids().thread(task.proc_id, tid.empty() ? std::string_view("1") : tid);
  return task;
}

// Times of a day go on at midnight.
int64_t StraceReader::time_of(const StraceLine& line) {
  if (!line.time_ns) return last_ns_;
  int64_t ns = *line.time_ns;
  if (!line.is_epoch) {
    ns += days_ns_;
    if (ns < last_ns_ - kDayNs / 2) {
      days_ns_ += kDayNs;
      ns += kDayNs;
    }
  }
  last_ns_ = ns;
  return ns;
}

void StraceReader::follow(const Task& task, std::string_view name, std::string_view args, int64_t ret) {
  const bool makes_task = name == "clone" || name == "clone3" || name == "fork" || name == "vfork";
  if (!makes_task || ret <= 0 || tasks_.contains(std::to_string(ret))) return;
  Task made;
  made.tid = std::to_string(ret);
  if (args.find("CLONE_THREAD") != std::string_view::npos) {
    made.proc_id = task.proc_id;
  } else {
    made.proc_id = to_.ids().process(ret);
    to_.ids().set_parent(made.proc_id, task.proc_id);
    files_[made.proc_id] = files_[task.proc_id];
  }
  made.thread_id = to_.ids().thread(made.proc_id, made.tid);
  tasks_[made.tid] = made;
}

void StraceReader::fill(model::CallRow& row, std::string_view name, const std::vector<std::string_view>& args,
                        int32_t proc_id) {
  const auto number = [&](size_t i) { return i < args.size() ? json_integer(args[i], -1) : -1; };
  const bool is_at = name.ends_with("at") || name.ends_with("at2") || name == "openat2";
  Files& files = files_[proc_id];
  const auto descriptor = [&](std::string_view text) {
    const int64_t fd = json_integer(text.substr(0, text.find('<')), -1);
    if (const size_t open = text.find('<'); open != std::string_view::npos && text.ends_with('>') && fd >= 0) {
      files[static_cast<int32_t>(fd)] =
          to_.ids().file(text.substr(open + 1, text.size() - open - 2), model::FileKind::kUnknown);
    }
    return static_cast<int32_t>(fd);
  };
  const auto path = std::find_if(args.begin(), args.end(), [](std::string_view arg) { return arg.starts_with('"'); });
  const bool is_transfer = name.find("read") != std::string_view::npos || name.find("write") != std::string_view::npos;
  if (!args.empty() && !args[0].starts_with('"') && !(is_at && args[0].starts_with("AT_FDCWD"))) {
    row.fd = descriptor(args[0]);
    if (const auto found = files.find(row.fd); found != files.end()) row.file_id = found->second;
  }
  if (path != args.end() && !is_transfer) {
    row.file_id = to_.ids().file(unquoted(*path), model::FileKind::kUnknown);
    if (name.starts_with("open") || name == "creat") {
      row.fd = static_cast<int32_t>(row.ret);
      if (row.ret >= 0) files[row.fd] = row.file_id;
    }
    const auto second = std::find_if(path + 1, args.end(), [](std::string_view arg) { return arg.starts_with('"'); });
    if (second != args.end()) row.file2_id = to_.ids().file(unquoted(*second), model::FileKind::kUnknown);
  }
  if (is_transfer && name.find('v') == std::string_view::npos) {
    row.requested = number(2);
    if (name.starts_with("pread") || name.starts_with("pwrite")) {
      row.offset = number(3);
      row.offset_source = model::OffsetSource::kArgument;
    }
  }
  if (name == "lseek" || name == "_llseek") row.offset = number(1);
  if (name == "close" && row.fd >= 0) files.erase(row.fd);
  if (name.starts_with("dup") && row.ret >= 0 && row.file_id != 0) files[static_cast<int32_t>(row.ret)] = row.file_id;
  if (row.file_id != 0) row.file_kind = model::FileKind::kRegular;
}

Status StraceReader::add(const Task& task, int64_t ts_ns, int64_t dur_ns, std::string_view name, std::string_view args,
                         const StraceLine& end) {
  int64_t ret = json_integer(end.ret.substr(0, end.ret.find('<')), -1);
  if (end.ret.starts_with("0x")) ret = static_cast<int64_t>(std::strtoull(std::string(end.ret).c_str(), nullptr, 16));
  const int32_t err = errno_number(end.error);
  follow(task, name, args, ret);
  const model::Origin origin = to_.ids().origin(ts_ns, task.proc_id, task.thread_id);
  const std::string text = util::escaped_utf8(args);
  if (const auto func = func_number(name)) {
    model::CallRow row;
    row.origin = origin;
    row.dur_ns = std::max<int64_t>(dur_ns, 0);
    row.func = *func;
    row.ret = ret;
    row.err = err;
    row.via = model::Via::kSyscall;
    fill(row, name, strace_arguments(args), task.proc_id);
    if (Status added = to_.add(row); !added) return added;
    const std::string json = "{\"args\":" + quoted_json(text) + "}";
    model::OtherEventRow more;
    more.origin = origin;
    more.kind = "call";
    more.name = name;
    more.args = json;
    return to_.add(more, 0);
  }
  const std::string json = "{\"args\":" + quoted_json(text) + ",\"ret\":" + quoted_json(util::escaped_utf8(end.ret)) +
                           ",\"err\":" + std::to_string(err) + "}";
  const std::string shown = util::escaped_utf8(name);
  model::SliceRow row;
  row.origin = origin;
  row.dur_ns = dur_ns;
  row.kind = model::SliceKind::kSyscall;
  row.name = shown;
  row.category = "syscall";
  row.args = json;
  return to_.add(row);
}

Status StraceReader::add_point(const Task& task, int64_t ts_ns, const char* kind, std::string_view text) {
  const std::string shown = util::escaped_utf8(text);
  model::MarkRow row;
  row.origin = to_.ids().origin(ts_ns, task.proc_id, task.thread_id);
  row.domain = kind;
  row.name = shown;
  row.scope = "thread";
  return to_.add(row);
}

Status StraceReader::take(const StraceLine& line, std::string_view text) {
  if (text.empty()) return {};
  if (line.kind == StraceLine::Kind::kOther) {
    to_.file().leave_out("a line that is no system call");
    return {};
  }
  const Task& whose = task(line.tid);
  const int64_t ts_ns = time_of(line);
  switch (line.kind) {
    case StraceLine::Kind::kCall:
      if (!line.dur_ns) ++to_.file().remarks["no duration (strace without -T)"];
      return add(whose, ts_ns, line.dur_ns.value_or(-1), line.name, line.args, line);
    case StraceLine::Kind::kUnfinished:
      if (begun_.contains(whose.tid)) to_.file().leave_out("a call that was not resumed");
      begun_[whose.tid] = {ts_ns, std::string(line.name), std::string(line.args)};
      return {};
    case StraceLine::Kind::kResumed: {
      const auto begun = begun_.find(whose.tid);
      if (begun == begun_.end() || begun->second.name != line.name) {
        to_.file().leave_out("the end of a call without its beginning");
        return {};
      }
      begun->second.args += line.args;
      to_.file().keep("call", 0);  // the other half of a call
      if (line.again_unfinished) return {};
      const Begun whole = std::move(begun->second);
      begun_.erase(begun);
      return add(whose, whole.ts_ns, line.dur_ns.value_or(ts_ns - whole.ts_ns), whole.name, whole.args, line);
    }
    case StraceLine::Kind::kSignal: return add_point(whose, ts_ns, "signal", line.args);
    case StraceLine::Kind::kExit: return add_point(whose, ts_ns, "exit", line.args);
    case StraceLine::Kind::kOther: break;
  }
  return {};
}

Status StraceReader::run() {
  auto input = Input::open(path_);
  if (!input) return tl::make_unexpected(input.error());
  Lines lines(**input, path_);
  bool is_epoch = false;
  for (std::string_view text;;) {
    const auto more = lines.next(text);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    const StraceLine line = parse_strace_line(text);
    is_epoch |= line.time_ns && line.is_epoch;
    if (Status taken = take(line, text); !taken) return taken;
    to_.progress().reached(static_cast<size_t>((*input)->file_at()), static_cast<size_t>((*input)->file_size()));
  }
  to_.file().leave_out("a call that was not resumed", static_cast<int64_t>(begun_.size()));
  if (begun_.empty()) to_.file().left_out.erase("a call that was not resumed");
  if (is_epoch) {
    to_.file().clock = FileClock::kRealtime;
    to_.file().has_offset = true;
  }
  return {};
}

}  // namespace

bool looks_like_strace(const std::string& text) {
  size_t at = 0;
  for (int lines = 0; lines < 50 && at < text.size(); ++lines) {
    const size_t end = text.find('\n', at);
    const StraceLine line =
        parse_strace_line(std::string_view(text).substr(at, end == std::string::npos ? end : end - at));
    const bool is_call = line.kind == StraceLine::Kind::kCall || line.kind == StraceLine::Kind::kUnfinished;
    if (is_call) return true;
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return false;
}

Status read_strace(const std::string& path, TraceMaker& to) { return StraceReader(path, to).run(); }

}  // namespace mlrun::exchange
