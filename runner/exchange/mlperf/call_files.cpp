// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "runner/exchange/call_classes.h"
#include "runner/exchange/each_row.h"
#include "runner/exchange/mlperf/text_files.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/output_file.h"
#include "runner/util/time_units.h"

namespace mlrun::exchange {

namespace {

enum CallColumn : size_t {
  kCallFunc,
  kCallFile,
  kCallOffset,
  kCallRet,
  kCallErr,
  kCallFd,
  kCallPid,
  kCallTid,
  kCallThread,
  kCallArg2,
  kCallRequested
};

enum TextFile : size_t { kReads, kWrites, kOpens, kCloses, kNames, kStrace, kTextFiles };

constexpr std::array<const char*, kTextFiles> kFileNames = {
    "trace_read.out", "trace_write.out", "trace_openat.out", "trace_close.out", "trace_create_del.out", "strace.out"};
static_assert(kFileNames.back() != nullptr);

// The first lines, as the scripts print them.
std::array<std::string, kTextFiles> headers() {
  return {
      fmt::format("{:<17} {:<6} {:<8} {:<12} {:<12} {}\n", "TIMESTAMP", "PID", "OFFSET", "RET (B)", "LAT(ns)",
                  "FILENAME"),
      fmt::format("{:<17} {:<8} {:<8} {:<10} {:<10} {:<8}\n", "TIMESTAMP", "PID", "OFFSET", "SIZE (B)", "LAT (ns)",
                  "FILENAME"),
      fmt::format("{:<17} {:<6} {:<5} {:<8} {} {}\n", "TIMESTAMP", "PID", "COMM", "LAT(ns)", "FULLPATH", "FILENAME"),
      fmt::format("{:<17} {:<6} {:<5} {:<8} {}\n", "TIMESTAMP", "PID", "FD", "LAT(ns)", "FILENAME"),
      fmt::format("mkdir():\n{:<17} {:<6} {:<10} {:<8} {:<8} {}\n\nrmdir():\n{:<17} {:<6} {:<10} {:<8} {}\n\n"
                  "unlink():\n{:<15} {:<6} {:<10} {:<8} {} {}\n\n",
                  "TIMESTAMP", "PID", "FUNCTION", "MODE", "LAT(ns)", "FILENAME", "TIMESTAMP", "PID", "FUNCTION",
                  "LAT(ns)", "FILENAME", "TIMESTAMP", "PID", "FUNCTION", "LAT(ns)", "FILENAME", "FULLPATH"),
      "",
  };
}

class CallFiles {
 public:
  explicit CallFiles(Export& job) : job_(job) {}

  Status run() {
    const auto paths = job_.names("file_id");
    if (!paths) return tl::make_unexpected(paths.error());
    paths_ = *paths;
    const auto read = each_row(job_, "thread", {"thread_id", "comm"}, [&](const Row& row) {
      comms_[row.number(0)] = row.text(1).empty() ? "-" : one_word(row.text(1));
    });
    if (!read) return tl::make_unexpected(read.error());
    const auto first_lines = headers();
    for (size_t i = 0; i < kTextFiles; ++i) {
      auto file = OutputFile::create(job_.output() + "/" + kFileNames[i]);
      if (!file) return tl::make_unexpected(file.error());
      files_[i].emplace(*std::move(file));
      files_[i]->write(first_lines[i]);
    }
    if (auto written = write_rows(); !written) return written;
    for (auto& file : files_) {
      if (auto closed = file->close(); !closed) return closed;
    }
    return {};
  }

 private:
  Status write_rows() {
    auto rows = OrderedRows::open(
        job_, "call",
        {"func", "file_id", "offset", "ret", "err", "fd", "pid", "tid", "thread_id", "arg2", "requested"});
    if (!rows) return tl::make_unexpected(rows.error());
    int64_t count = 0, events = 0, waits = 0;
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      const mlrun_call_class* of_call = class_of_name(rows->text(kCallFunc));
      // The scripts' strace leaves out waits and sleeps.
      if (of_call == nullptr || *of_call == MLRUN_CLASS_WAIT) {
        ++waits;
        continue;
      }
      write_strace(*rows);
      ++count;
      events += write_call(*of_call, *rows) ? 2 : 1;
    }
    job_.account().wrote("call", count, events);
    job_.account().left_out("call", "waits, which the script's strace left out", waits);
    job_.account().left_out("call", kNotWanted, rows->unwanted());
    return {};
  }

  // A line as strace -f -tt -T -y prints it: the time of the begin, descriptors with their paths.
  void write_strace(const OrderedRows& row) {
    const std::string path = one_word(paths_->name(row.number(kCallFile)));
    std::string arguments;
    if (!row.is_null(kCallFd) && row.number(kCallFd) >= 0 && *class_of_name(row.text(kCallFunc)) != MLRUN_CLASS_OPEN) {
      arguments = fmt::format("{}<{}>", row.number(kCallFd), path);
    } else if (!path.empty()) {
      arguments = fmt::format("\"{}\"", path);
    }
    if (!row.is_null(kCallRequested)) arguments += fmt::format(", {}", row.number(kCallRequested));
    if (!row.is_null(kCallOffset) && row.text(kCallFunc).starts_with('p'))
      arguments += fmt::format(", {}", row.number(kCallOffset));
    const int64_t us = (row.ts() + job_.realtime_offset_ns()) / 1000 % 1'000'000;
    files_[kStrace]->write(fmt::format("{} {}.{:06} {}({}) = {} <{:.6f}>\n", row.number(kCallTid),
                                       local_time(job_, row.ts(), "%H:%M:%S"), us, row.text(kCallFunc), arguments,
                                       row.number(kCallErr) != 0 ? -1 : row.number(kCallRet),
                                       util::in_seconds(row.end() - row.ts())));
  }

  bool write_call(mlrun_call_class of_call, const OrderedRows& row) {
    const int64_t at = row.end(), pid = row.number(kCallPid), took = row.end() - row.ts();
    const std::string_view path = paths_->name(row.number(kCallFile));
    const std::string_view func = row.text(kCallFunc);
    const bool failed = row.number(kCallErr) != 0;
    const bool is_socket = func.starts_with("recv") || func.starts_with("send");
    const auto write = [&](TextFile file, const std::string& line) {
      files_[file]->write(line);
      return true;
    };
    switch (of_call) {
      case MLRUN_CLASS_READ:
        if (failed || is_socket) return false;
        return write(kReads, fmt::format("{:<17} {:<8} {:<16} {:<16} {:<12} {}\n", at, pid, row.number(kCallOffset),
                                         row.number(kCallRet), took, base_name(path)));
      case MLRUN_CLASS_WRITE:
        if (failed || is_socket) return false;
        return write(kWrites, fmt::format("{:<17} {:<8} {:<16} {:<10} {:<10} {}\n", at, pid, row.number(kCallOffset),
                                          row.number(kCallRet), took, base_name(path)));
      case MLRUN_CLASS_OPEN: {
        const auto comm = comms_.find(row.number(kCallThread));
        return write(kOpens,
                     fmt::format("{:<17} {:<6} {} {:<8} {} {}\n", at, pid, comm == comms_.end() ? "-" : comm->second,
                                 took, one_word(path), failed ? "" : base_name(path)));
      }
      case MLRUN_CLASS_CLOSE:
        return write(kCloses,
                     fmt::format("{:<17} {:<6} {:<5} {:<8} {}\n", at, pid, row.number(kCallFd), took, base_name(path)));
      case MLRUN_CLASS_META: return write_name(row, func, path);
      case MLRUN_CLASS_SEEK:
      case MLRUN_CLASS_SYNC:
      case MLRUN_CLASS_MAP:
      case MLRUN_CLASS_FD:
      case MLRUN_CLASS_PROCESS:
      case MLRUN_CLASS_COPY:
      case MLRUN_CLASS_WAIT: return false;
    }
    return false;
  }

  bool write_name(const OrderedRows& row, std::string_view func, std::string_view path) {
    const int64_t at = row.end(), pid = row.number(kCallPid), took = row.end() - row.ts();
    std::string line;
    if (func.starts_with("mkdir")) {
      line = fmt::format("{:<17} {:<6} {:<10} {:<8} {:<8} {}\n", at, pid, "mkdir()", row.number(kCallArg2), took,
                         base_name(path));
    } else if (func == "rmdir") {
      line = fmt::format("{:<17} {:<6} {:<10} {:<8} {}\n", at, pid, "rmdir()", took, base_name(path));
    } else if (func.starts_with("unlink")) {
      line =
          fmt::format("{:<17} {:<6} {:<10} {:<8} {} {}\n", at, pid, "unlink()", took, base_name(path), one_word(path));
    }
    if (line.empty()) return false;
    files_[kNames]->write(line);
    return true;
  }

  Export& job_;
  std::shared_ptr<const view::IdNames> paths_;
  std::unordered_map<int64_t, std::string> comms_;
  std::array<std::optional<OutputFile>, kTextFiles> files_;
};

}  // namespace

Status write_call_files(Export& job) { return CallFiles(job).run(); }

}  // namespace mlrun::exchange
