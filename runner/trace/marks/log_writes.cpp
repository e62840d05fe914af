// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/log_writes.h"

#include <sys/stat.h>

#include <algorithm>

#include "runner/decode/func_class.h"
#include "runner/decode/limits.h"
#include "runner/summary/meters/call_facts.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

LogWrites::LogWrites(const std::vector<std::string>& paths, const model::FileTable& files) : writes_(paths.size()) {
  if (paths.empty()) return;
  log_of_.assign(files.size() + 1, -1);
  std::vector<struct stat> logs(paths.size());
  for (size_t log = 0; log < paths.size(); ++log) {
    if (::stat(paths[log].c_str(), &logs[log]) != 0) logs[log] = {};
  }
  for (const model::FileRow& file : files) {
    for (size_t log = 0; log < paths.size(); ++log) {
      const bool same = file.ino != 0 && static_cast<uint64_t>(file.ino) == logs[log].st_ino &&
                        static_cast<uint32_t>(file.dev) == static_cast<uint32_t>(logs[log].st_dev);
      if (!same) continue;
      log_of_[static_cast<size_t>(file.file_id)] = static_cast<int32_t>(log);
      any_ = true;
    }
  }
}

void LogWrites::add_write(const model::CallRow& row) {
  const auto facts = summary::call_facts(row, decode::class_of_func(row.func).value_or(MLRUN_CLASS_PROCESS));
  if (!facts.is_write || facts.is_read) return;
  add(static_cast<size_t>(log_of_[static_cast<size_t>(row.file_id)]), row.origin.ts_ns, facts.bytes,
      row.origin.proc_id);
}

void LogWrites::add(size_t log, int64_t start_ns, int64_t bytes, int32_t proc_id) {
  if (log >= writes_.size() || bytes <= 0) return;
  std::vector<Write>& writes = writes_[log];
  // Positions count from the end of the file, so dropping the first writes leaves the others valid.
  if (writes.size() >= decode::kLogWritesMax) writes.erase(writes.begin(), writes.begin() + decode::kLogWritesMax / 2);
  writes.push_back({start_ns, bytes, 0, proc_id});
}

void LogWrites::finish() {
  for (std::vector<Write>& writes : writes_) {
    std::stable_sort(writes.begin(), writes.end(),
                     [](const Write& a, const Write& b) { return a.start_ns < b.start_ns; });
    std::reverse(writes.begin(), writes.end());
    int64_t behind = 0;
    for (Write& write : writes) {
      util::add_to(behind, write.bytes);
      write.from_end = behind;
    }
  }
}

const LogWrites::Write* LogWrites::find(size_t log, int64_t from_end) const {
  if (log >= writes_.size() || from_end <= 0) return nullptr;
  const auto& writes = writes_[log];
  const auto found = std::lower_bound(writes.begin(), writes.end(), from_end,
                                      [](const Write& write, int64_t place) { return write.from_end < place; });
  return found == writes.end() ? nullptr : &*found;
}

std::optional<int64_t> LogWrites::start_of(size_t log, int64_t from_end) const {
  const Write* write = find(log, from_end);
  return write ? std::optional(write->start_ns) : std::nullopt;
}

int32_t LogWrites::process_of(size_t log, int64_t from_end) const {
  const Write* write = find(log, from_end);
  return write ? write->proc_id : 0;
}

}  // namespace mlrun::trace
