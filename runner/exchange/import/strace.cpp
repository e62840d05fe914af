// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/strace.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <unordered_map>

#include "runner/exchange/import/call_names.h"
#include "runner/exchange/import/file_lines.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/strace_line.h"
#include "runner/summary/names.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

// The text in quotes, in which escapes of strace (\n, \3, \x41) become bytes.
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
    } else if (c == 'x' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      constexpr std::string_view kFrom = "ntrvfe", kTo = "\n\t\r\v\f\033";
      const size_t at = kFrom.find(c);
      out += at == std::string_view::npos ? c : kTo[at];
    }
  }
  return out;
}

bool makes_task(std::string_view name) {
  return name == "clone" || name == "clone3" || name == "fork" || name == "vfork";
}

// Whether the call transfers bytes of a descriptor; readlink() and the like read names.
bool is_transfer(std::string_view name) {
  const bool reads = name.starts_with("read") || name.starts_with("pread"),
             writes = name.starts_with("write") || name.starts_with("pwrite");
  return (reads || writes) && !name.starts_with("readlink");
}

// An interrupted call that the kernel may restart ends with ERESTART..., 512 to 516, which programs never see: it counts as EINTR.
int32_t strace_errno(std::string_view name) {
  return name.starts_with("ERESTART") ? EINTR : summary::errno_number(name);
}

// The tid in the name of a file of strace -ff: `log.1234` has the calls of thread 1234.
std::string_view tid_of_file(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  const std::string_view end = path.substr(path.rfind('.') + 1);
  constexpr size_t kDigitsMax = 7;
  const bool is_tid = end.size() < path.size() && !end.empty() && end.size() <= kDigitsMax &&
                      end.find_first_not_of("0123456789") == std::string_view::npos;
  return is_tid ? end : std::string_view();
}

struct Task {
  int32_t proc_id = 0, thread_id = 0;
  std::string tid;  // the text in the lines
};

class StraceReader {
 public:
  StraceReader(std::string path, TraceMaker& to) : path_(std::move(path)), own_tid_(tid_of_file(path_)), to_(to) {}
  Status run();

 private:
  struct Begun {
    int64_t ts_ns = 0;
    std::string name, args;
    bool has_child = false;  // a line of the new thread came before this call's result
  };
  using Files = std::map<int32_t, int64_t>;  // by descriptor

  Status take(const StraceLine& line, std::string_view text);
  Status add(const Task& task, int64_t ts_ns, int64_t dur_ns, std::string_view name, std::string_view args,
             const StraceLine& end);
  Status add_point(const Task& task, int64_t ts_ns, const char* kind, std::string_view text);
  Task& task(std::string_view tid);
  Task* known_task(std::string_view tid);
  void fill(model::CallRow& row, std::string_view name, const std::vector<std::string_view>& args, int32_t proc_id);
  void follow(const Task& task, std::string_view name, std::string_view args, int64_t ret);
  int64_t time_of(const StraceLine& line);

  std::string path_, own_tid_;
  TraceMaker& to_;
  std::map<std::string, Task, std::less<>> tasks_;
  std::map<std::string, Begun> begun_;  // by thread
  std::unordered_map<int32_t, Files> files_;
  int64_t last_ns_ = 0, days_ns_ = 0;
  bool has_main_ = false, is_epoch_ = false;
};

// Finds the process of a thread on the thread's first line, by earlier lines or files. nullptr: unknown.
Task* StraceReader::known_task(std::string_view tid) {
  // The clone that made the thread may not have returned yet: the oldest such call is taken.
  auto oldest = begun_.end();
  for (auto at = begun_.begin(); at != begun_.end(); ++at) {
    const Begun& begun = at->second;
    if (!makes_task(begun.name) || begun.has_child) continue;
    if (oldest == begun_.end() || begun.ts_ns < oldest->second.ts_ns) oldest = at;
  }
  const int64_t number = json_integer(tid, -1);
  if (oldest != begun_.end()) {
    oldest->second.has_child = true;
    follow(task(oldest->first), oldest->second.name, oldest->second.args, number);
    if (const auto made = tasks_.find(tid); made != tasks_.end()) return &made->second;
  }
  Task made;
  made.tid = tid;
  if (const auto main = tasks_.find(std::string_view()); main != tasks_.end() && !has_main_) {
    // strace prints no tid as long as there is one thread: the lines so far were this thread's.
    made = main->second;
    has_main_ = true;
  } else if (const int32_t thread_id = to_.ids().find_thread(static_cast<int32_t>(number)); thread_id != 0) {
    // A file that was read before has the clone that made the thread.
    made.thread_id = thread_id;
    made.proc_id = to_.ids().process_of(thread_id);
  } else {
    return nullptr;
  }
  return &(tasks_[std::string(tid)] = std::move(made));
}

Task& StraceReader::task(std::string_view tid) {
  if (tid.empty()) tid = own_tid_;
  const auto found = tasks_.find(tid);
  if (found != tasks_.end()) return found->second;
  if (!tid.empty()) {
    if (Task* known = known_task(tid)) return *known;
  }
  Task& task = tasks_[std::string(tid)];
  task.tid = tid;
  task.proc_id = to_.ids().process(tid.empty() ? std::string_view("1") : tid);
  task.thread_id = to_.ids().thread(task.proc_id, tid.empty() ? std::string_view("1") : tid);
  return task;
}

// The time of a line in nanoseconds. Times since midnight that jump back by more than half a day are of the next day.
int64_t StraceReader::time_of(const StraceLine& line) {
  if (!line.time_ns) return last_ns_;
  int64_t ns = *line.time_ns;
  switch (line.since) {
    case StraceLine::Since::kEpoch: is_epoch_ = true; break;
    case StraceLine::Since::kLine: ns = std::min(last_ns_, INT64_MAX / 4) + ns; break;
    case StraceLine::Since::kMidnight:
      ns += days_ns_;
      if (ns >= last_ns_ - kDayNs / 2) break;
      days_ns_ += kDayNs;
      ns += kDayNs;
      break;
  }
  last_ns_ = ns;
  return ns;
}

// Keeps track of what a call changes beyond its row: new threads and processes, and names.
void StraceReader::follow(const Task& task, std::string_view name, std::string_view args, int64_t ret) {
  if (name == "execve" && ret == 0) {
    const auto list = strace_arguments(args);
    std::string command;
    if (list.size() > 1 && list[1].starts_with('[') && list[1].ends_with(']')) {
      for (const std::string_view word : strace_arguments(list[1].substr(1, list[1].size() - 2)))
        command += (command.empty() ? "" : " ") + unquoted(word);
    }
    if (command.empty() && !list.empty()) command = unquoted(list[0]);
    to_.ids().name_process(task.proc_id, command);
  }
  if (!makes_task(name) || ret <= 0 || tasks_.contains(std::to_string(ret))) return;
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
    constexpr std::string_view kDeleted = "(deleted)";
    if (text.ends_with(kDeleted)) text.remove_suffix(kDeleted.size());
    const int64_t fd = json_integer(text.substr(0, text.find('<')), -1);
    if (const size_t open = text.find('<'); open != std::string_view::npos && text.ends_with('>') && fd >= 0) {
      files[static_cast<int32_t>(fd)] =
          to_.ids().file(text.substr(open + 1, text.size() - open - 2), model::FileKind::kUnknown);
    }
    return static_cast<int32_t>(fd);
  };
  const auto path = std::find_if(args.begin(), args.end(), [](std::string_view arg) { return arg.starts_with('"'); });
  if (!args.empty() && !args[0].starts_with('"') && !(is_at && args[0].starts_with("AT_FDCWD"))) {
    row.fd = descriptor(args[0]);
    if (const auto found = files.find(row.fd); found != files.end()) row.file_id = found->second;
  }
  if (path != args.end() && !is_transfer(name)) {
    row.file_id = to_.ids().file(unquoted(*path), model::FileKind::kUnknown);
    if (name.starts_with("open") || name == "creat") {
      row.fd = static_cast<int32_t>(row.ret);
      if (row.ret >= 0) files[row.fd] = row.file_id;
    }
    const auto second = std::find_if(path + 1, args.end(), [](std::string_view arg) { return arg.starts_with('"'); });
    if (second != args.end()) row.file2_id = to_.ids().file(unquoted(*second), model::FileKind::kUnknown);
  }
  if (is_transfer(name) && name.find('v') == std::string_view::npos) {
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
  const int32_t err = strace_errno(end.error);
  follow(task, name, args, ret);
  const model::Origin origin = to_.ids().origin(ts_ns, task.proc_id, task.thread_id);
  std::string members = "\"args\":" + quoted_json(util::escaped_utf8(args));
  if (!end.detail.empty()) members += ",\"result\":" + quoted_json(util::escaped_utf8(end.detail));
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
    const std::string json = "{" + members + "}";
    model::OtherEventRow more;
    more.origin = origin;
    more.kind = "call";
    more.name = name;
    more.args = json;
    return to_.add(more, 0);
  }
  const std::string json =
      "{" + members + ",\"ret\":" + quoted_json(util::escaped_utf8(end.ret)) + ",\"err\":" + std::to_string(err) + "}";
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
    const bool is_frame = text.starts_with(" > ");
    to_.file().leave_out(is_frame ? "a frame of a stack (strace -k)" : "a line that is not a system call");
    return {};
  }
  if (line.kind == StraceLine::Kind::kHalf) {
    to_.file().keep("call", 0);
    return {};
  }
  const int64_t ts_ns = time_of(line);
  const Task& whose = task(line.tid);
  switch (line.kind) {
    case StraceLine::Kind::kCall:
      if (!line.dur_ns)
        ++to_.file()
              .remarks[line.ret == "?" ? "no duration, since it never returned" : "no duration (strace without -T)"];
      return add(whose, ts_ns, line.dur_ns.value_or(-1), line.name, line.args, line);
    case StraceLine::Kind::kUnfinished:
      if (begun_.contains(whose.tid)) to_.file().leave_out("a call that was not resumed");
      begun_[whose.tid] = {ts_ns, std::string(line.name), std::string(line.args), false};
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
      return add(whose, whole.ts_ns, line.dur_ns.value_or(std::max<int64_t>(ts_ns - whole.ts_ns, 0)), whole.name,
                 whole.args, line);
    }
    case StraceLine::Kind::kSignal: return add_point(whose, ts_ns, "signal", line.args);
    case StraceLine::Kind::kExit: return add_point(whose, ts_ns, "exit", line.args);
    case StraceLine::Kind::kHalf:
    case StraceLine::Kind::kOther: break;
  }
  return {};
}

Status StraceReader::run() {
  const auto see = [&](std::string_view text, int64_t) { return take(parse_strace_line(text), text); };
  if (Status read = for_each_line(path_, to_, see); !read) return read;
  if (!begun_.empty()) to_.file().leave_out("a call that was not resumed", static_cast<int64_t>(begun_.size()));
  if (is_epoch_) {
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
    const bool is_point = line.kind == StraceLine::Kind::kSignal || line.kind == StraceLine::Kind::kExit;
    if (is_call || (is_point && line.time_ns)) return true;
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return false;
}

Status read_strace(const std::string& path, TraceMaker& to) { return StraceReader(path, to).run(); }

}  // namespace mlrun::exchange
