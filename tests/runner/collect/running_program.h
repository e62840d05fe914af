// SPDX-License-Identifier: Apache-2.0
// A program under test, with its output caught.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mlrun::testing {

struct Ended {
  int wait_status = 0;
  std::string out, err;
  [[nodiscard]] int exit_status() const;  // -1: ended by a signal
};

class RunningProgram {
 public:
  // `terminal`: stdin, stdout and stderr are a terminal of its own, of which it is the session leader; `out` then has stdout and stderr.
  explicit RunningProgram(const std::vector<std::string>& command, bool terminal = false);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Reads on until stdout holds `text`; false: it ended first, or said nothing for 20 s.
  bool wait_for(const std::string& text);
  void type(const std::string& keys) const;
  Ended wait();

 private:
  bool read_some();

  pid_t pid_ = 0;
  int in_ = -1, out_ = -1, err_ = -1;
  Ended ended_;
};

Ended run(const std::vector<std::string>& command);

}  // namespace mlrun::testing
