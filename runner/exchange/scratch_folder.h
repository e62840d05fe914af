// SPDX-License-Identifier: Apache-2.0
// A folder for incomplete output. It is removed together with its object, and when a signal ends the process: Ctrl-C leaves
// nothing half-written.
//
// While an object exists, those of SIGINT, SIGTERM, SIGHUP and SIGQUIT that end the process are blocked, also in threads that are started
// meanwhile. A thread waits for them, since a signal handler must not remove folders. It moves each folder aside first, and puts a file in
// its place until the process ends, so that other threads create nothing more in it.
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
  std::thread thread_;  // none if it could not be started: a signal then ends the process at once, and the folder stays
};

// The error with `part`, the path of an incomplete file or folder, replaced by `whole`, the path that it will have.
Error renamed(Error error, const std::string& part, const std::string& whole);

}  // namespace mlrun::exchange
