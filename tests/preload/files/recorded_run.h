// SPDX-License-Identifier: Apache-2.0
// The recorded file calls of a command: runs it by the mini collector, decodes with the project's own decoder, and
// joins strings and open files to the calls.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/decode/event_view.h"
#include "tests/preload/mini_collector.h"

namespace mlrun::preload_test {

struct FileDefinition {
  decode::FileEvent event;
  std::string path;  // as recorded
};

struct RecordedCall {
  std::string func;
  decode::CallEvent event;
  uint32_t pid = 0, tid = 0;
  std::string path, second_path, cwd;    // calls on a path
  const FileDefinition* file = nullptr;  // behind event.open_file; null: unknown
  [[nodiscard]] std::string file_path() const { return file == nullptr ? "" : file->path; }
};

// The file stream alone.
RunOptions file_calls_only();

class RecordedRun {
 public:
  explicit RecordedRun(const std::vector<std::string>& command, RunOptions options = file_calls_only());
  RecordedRun(const RecordedRun&) = delete;  // calls point into definitions
  RecordedRun& operator=(const RecordedRun&) = delete;

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] int exit_code() const { return totals_.exit_code(); }
  [[nodiscard]] const std::string& output() const { return totals_.output; }
  [[nodiscard]] bool whole() const { return totals_.all_drops() == 0 && totals_.torn == 0 && totals_.broken == 0; }

  [[nodiscard]] const std::vector<RecordedCall>& calls() const { return calls_; }  // by start
  [[nodiscard]] std::vector<RecordedCall> calls_of(const std::set<std::string>& functions) const;
  // Calls whose own path, or whose open file's path, contains `part`.
  [[nodiscard]] std::vector<RecordedCall> calls_on(const std::string& part) const;
  [[nodiscard]] const std::vector<FileDefinition>& definitions() const { return definitions_; }

 private:
  void take(const RecordView& record);
  void join();

  Totals totals_;
  std::vector<RecordedCall> calls_;
  std::vector<FileDefinition> definitions_;
  std::map<uint64_t, std::string> strings_;
};

// A folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mlrun::preload_test
