// SPDX-License-Identifier: Apache-2.0
// A folder for what is not complete yet. It is gone when its owner is, and when a signal ends the process: Ctrl-C leaves
// nothing half-written.
//
// The signals are blocked as long as one exists, in threads that are started meanwhile too, and a thread waits for them: a handler
// could remove no folder. It moves each folder aside first, and puts a file in its place until the process ends, so that nothing
// more is made in it.
#pragma once

#include <signal.h>

#include <memory>
#include <string>
#include <thread>

#include "runner/util/result.h"

namespace mlrun::exchange {

class ScratchFolder {
 public:
  // Its name is `name` and six letters.
  static Result<std::unique_ptr<ScratchFolder>> make(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ScratchFolder();
  void wait();

  std::string path_;
  sigset_t awaited_ = {}, before_ = {};
  std::thread thread_;  // none if it could not be started: a signal then ends the process as ever
};

// The error with `whole` where it names `part`, the file or folder that is not complete yet.
Error renamed(Error error, const std::string& part, const std::string& whole);

}  // namespace mlrun::exchange
