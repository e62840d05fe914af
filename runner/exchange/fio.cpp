// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/fio.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "runner/exchange/call_classes.h"
#include "runner/exchange/each_row.h"
#include "runner/exchange/ordered_rows.h"
#include "runner/exchange/output_file.h"
#include "runner/util/file_io.h"
#include "runner/util/text.h"

namespace mlrun::exchange {

namespace {

// fio reads names of at most 256 bytes, up to white space.
constexpr size_t kLongestName = 240;
constexpr int64_t kLongestOperation = UINT32_MAX;  // fio's length has 32 bits
constexpr size_t kBufferOfThread = 16 << 10;

enum Column : size_t { kFunc, kFile, kOffset, kRet, kErr, kFlags, kThread, kPid, kTid };

// Whether a part of the path is "." or "..": the replay would leave its folder.
bool has_dots(std::string_view path) {
  for (const std::string_view part : util::split(path, "/")) {
    if (part == "." || part == "..") return true;
  }
  return false;
}

// Whether reads and writes of this file can be replayed with a regular file. Traces of other tools lack the kind of a file: the path decides.
bool is_replayed(std::string_view kind, std::string_view path) {
  if (kind != "unknown") return kind == "regular" || kind == "shm" || kind == "block";
  return path.starts_with('/') && !path.starts_with("/dev/") && !path.starts_with("/proc/") &&
         !path.starts_with("/sys/");
}

// Percent-encoded as in URLs, which no shell or parser takes apart.
std::string fio_name(std::string_view path, int64_t file_id) {
  std::string name = "files";
  if (path.empty() || path.ends_with('/') || has_dots(path)) return fmt::format("files/by_id/{}", file_id);
  if (path.front() != '/') name += '/';
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || std::string_view("%'\"\\$`:*?").find(c) != std::string_view::npos) {
      name += fmt::format("%{:02X}", byte);
    } else {
      name += c;
    }
  }
  return name.size() <= kLongestName ? name : fmt::format("files/by_id/{}", file_id);
}

class FioThread {
 public:
  FioThread(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool transfers() const { return transfers_ != 0; }
  [[nodiscard]] int64_t file_actions() const { return file_actions_; }

  // Opens are counted by file, since fio has only one descriptor for each file.
  void open(int64_t us, const std::string& file) {
    known(us, file);
    if (open_[file]++ == 0) line(us, file + " open");
    ++file_actions_;
  }
  // False: it is not open in this thread.
  bool close(int64_t us, const std::string& file) {
    const auto found = open_.find(file);
    if (found == open_.end()) return false;
    if (--found->second == 0) {
      line(us, file + " close");
      open_.erase(found);
    }
    ++file_actions_;
    return true;
  }
  // `action`: read, write, sync, datasync.
  void transfer(int64_t us, const std::string& file, const char* action, int64_t offset, int64_t bytes) {
    known(us, file);
    if (open_.try_emplace(file, 1).second) line(us, file + " open");  // another thread opened it, or it was open before
    line(us, fmt::format("{} {} {} {}", file, action, offset, bytes));
    transfers_ += bytes != 0 ? 1 : 0;
  }
  Status flush(bool is_last) {
    if (buffer_.empty() || (!is_last && buffer_.size() < kBufferOfThread)) return {};
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path_.c_str(), "ae"), std::fclose);
    if (!file) return fail_errno("write " + path_, errno);
    const bool wrote = std::fwrite(buffer_.data(), 1, buffer_.size(), file.get()) == buffer_.size();
    if (!wrote || std::fflush(file.get()) != 0) return fail_errno("write " + path_, errno);
    buffer_.clear();
    return {};
  }

 private:
  void known(int64_t us, const std::string& file) {
    if (added_.insert(file).second) line(us, file + " add");
  }
  // fio waits for a line's time only if an earlier line has a time other than 0. So the first line has the time 1.
  void line(int64_t us, const std::string& text) {
    if (buffer_.empty() && !has_lines_) buffer_ = "fio version 3 iolog\n";
    latest_ = has_lines_ ? std::max(latest_, us) : 1;
    has_lines_ = true;
    buffer_ += fmt::format("{} {}\n", latest_, text);
  }

  std::string path_, name_, buffer_;
  std::map<std::string, int> open_;
  std::set<std::string> added_;
  int64_t latest_ = 0, transfers_ = 0, file_actions_ = 0;
  bool has_lines_ = false;
};

class FioExport {
 public:
  explicit FioExport(Export& job) : job_(job) {}

  Status run() {
    if (Status made = util::make_folders(job_.output()); !made) return made;
    const auto read = each_row(job_, "file", {"file_id", "path", "kind"}, [&](const Row& row) {
      if (is_replayed(row.text(2), row.text(1))) files_[row.number(0)] = fio_name(row.text(1), row.number(0));
    });
    if (!read) return tl::make_unexpected(read.error());
    if (auto written = write_calls(); !written) return written;
    if (auto written = write_job(); !written) return written;
    if (auto written = write_files(); !written) return written;
    job_.account().wrote("file", int64_t(sizes_.size()), int64_t(sizes_.size()));
    job_.account().left_out("file", "files without a replayed read or write", *read - int64_t(sizes_.size()));
    return leave_out_others(job_, {"call", "file"}, "fio's log has only reads, writes and syncs of files");
  }

 private:
  Status write_calls() {
    auto rows = OrderedRows::open(job_, "call",
                                  {"func", "file_id", "offset", "ret", "err", "flags", "thread_id", "pid", "tid"});
    if (!rows) return tl::make_unexpected(rows.error());
    for (;;) {
      const auto more = rows->next();
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      const char* reason = write_call(*rows);
      if (reason != nullptr) {
        ++reasons_[reason];
      } else {
        ++written_;
      }
      if (current_ == nullptr) continue;
      if (auto flushed = current_->flush(false); !flushed) return flushed;
    }
    int64_t without_transfer = 0;
    for (auto& [key, thread] : threads_) {
      if (!thread.transfers()) {
        without_transfer += thread.file_actions();
      } else if (auto flushed = thread.flush(true); !flushed) {
        return flushed;
      }
    }
    job_.account().wrote("call", written_ - without_transfer, written_ - without_transfer);
    job_.account().left_out("call", "opens and closes in a thread without reads and writes of files", without_transfer);
    for (const auto& [reason, count] : reasons_) job_.account().left_out("call", reason, count);
    job_.account().left_out("call", kNotWanted, rows->unwanted());
    return {};
  }

  // nullptr: it was written; else why not.
  const char* write_call(const OrderedRows& row) {
    current_ = nullptr;
    const mlrun_call_class* of_call = class_of_name(row.text(kFunc));
    if (of_call == nullptr) return "calls of functions that fio cannot replay";
    const char* action = action_of(*of_call, row.text(kFunc));
    if (action == nullptr) return "calls of functions that fio cannot replay";
    const auto file = files_.find(row.number(kFile));
    if (file == files_.end()) return "pipes, sockets, terminals and other files without an offset";
    if (row.number(kErr) != 0) return "failed calls";
    const int64_t us = std::max<int64_t>((row.ts() - job_.start_ns()) / 1000, 1);
    if (*of_call == MLRUN_CLASS_OPEN) return open(row, us, file->second), nullptr;
    if (*of_call == MLRUN_CLASS_CLOSE)
      return thread_of(row).close(us, file->second) ? nullptr : "closes of files that the thread has not opened";
    if (*of_call == MLRUN_CLASS_SYNC) return thread_of(row).transfer(us, file->second, action, 0, 0), nullptr;
    const int64_t bytes = row.number(kRet);
    if (bytes <= 0) return "reads and writes that moved no bytes (end of file)";
    if (row.is_null(kOffset)) return "reads and writes at an unknown offset";
    if (bytes > kLongestOperation) return "reads and writes of 4 GiB and more";
    thread_of(row).transfer(us, file->second, action, row.number(kOffset), bytes);
    int64_t& size = sizes_[file->second];
    size = std::max(size, row.number(kOffset) + bytes);
    return nullptr;
  }

  void open(const OrderedRows& row, int64_t us, const std::string& file) {
    if ((row.number(kFlags) & O_DIRECT) != 0) ++direct_opens_;
    thread_of(row).open(us, file);
  }

  // nullptr: fio has none.
  static const char* action_of(mlrun_call_class of_call, std::string_view func) {
    switch (of_call) {
      case MLRUN_CLASS_READ: return "read";
      case MLRUN_CLASS_WRITE: return "write";
      case MLRUN_CLASS_OPEN: return "open";
      case MLRUN_CLASS_CLOSE: return "close";
      case MLRUN_CLASS_SYNC: return func == "fsync" ? "sync" : func == "fdatasync" ? "datasync" : nullptr;
      case MLRUN_CLASS_SEEK:
      case MLRUN_CLASS_META:
      case MLRUN_CLASS_MAP:
      case MLRUN_CLASS_FD:
      case MLRUN_CLASS_PROCESS:
      case MLRUN_CLASS_COPY:
      case MLRUN_CLASS_WAIT: return nullptr;
    }
    return nullptr;
  }

  FioThread& thread_of(const OrderedRows& row) {
    const int64_t thread_id = row.number(kThread);
    auto found = threads_.find(thread_id);
    if (found == threads_.end()) {
      const std::string name = fmt::format("{}-{}-{}", row.number(kPid), row.number(kTid), thread_id);
      found = threads_.try_emplace(thread_id, fmt::format("{}/{}.log", job_.output(), name), name).first;
    }
    current_ = &found->second;
    return *current_;
  }

  Status write_job() {
    auto file = OutputFile::create(job_.output() + "/replay.fio");
    if (!file) return tl::make_unexpected(file.error());
    file->write(
        "; Replays what the program read and wrote, each thread at its times. In this folder:\n"
        ";   sh files.sh && fio replay.fio\n"
        "; Times are in microseconds. `mlrun export` printed which calls are not in it, as `not written`.\n");
    if (direct_opens_ != 0)
      file->write(fmt::format("; {} opens had O_DIRECT; here all go through the page cache (direct=1: none does).\n",
                              direct_opens_));
    file->write("[global]\nioengine=psync\nthread\n");
    for (const auto& [key, thread] : threads_) {
      if (thread.transfers()) file->write(fmt::format("\n[{0}]\nread_iolog={0}.log\n", thread.name()));
    }
    return file->close();
  }

  // A script that makes the files without content, as long as the replayed reads and writes need.
  Status write_files() {
    auto file = OutputFile::create(job_.output() + "/files.sh");
    if (!file) return tl::make_unexpected(file.error());
    file->write(
        "#!/bin/sh\n# Makes the files that replay.fio reads and writes, empty but as long as they have to be.\nset "
        "-e\n");
    std::set<std::string> folders;
    for (const auto& [name, size] : sizes_) folders.insert(name.substr(0, name.rfind('/')));
    for (const std::string& folder : folders) file->write(fmt::format("mkdir -p '{}'\n", folder));
    for (const auto& [name, size] : sizes_) file->write(fmt::format("truncate -s {} '{}'\n", size, name));
    return file->close();
  }

  Export& job_;
  std::unordered_map<int64_t, std::string> files_;  // names by file_id, of files that can be replayed
  std::map<int64_t, FioThread> threads_;
  std::map<std::string, int64_t> sizes_;  // by name
  std::map<std::string, int64_t> reasons_;
  FioThread* current_ = nullptr;
  int64_t written_ = 0, direct_opens_ = 0;
};

}  // namespace

Status write_fio(Export& job) { return FioExport(job).run(); }

}  // namespace mlrun::exchange
