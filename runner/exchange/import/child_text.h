// SPDX-License-Identifier: Apache-2.0
// The output of a program as an input. The program is started without a shell, and killed with the object.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "runner/exchange/import/input.h"
#include "runner/util/unique_fd.h"

namespace mlrun::exchange {

class ChildText : public Input {
 public:
  // `advice`: printed if the program cannot be started.
  static Result<std::unique_ptr<ChildText>> start(const std::vector<std::string>& words, const std::string& advice);
  ~ChildText() override;
  ChildText(const ChildText&) = delete;
  ChildText& operator=(const ChildText&) = delete;

  Result<size_t> read(char* to, size_t size) override;
  // Fails if the program failed, with the last line that it wrote to stderr. Requires: its whole output was read.
  Status finish(const std::string& what);
  // The last line that the program wrote to stderr, printable.
  [[nodiscard]] std::string last_complaint() const;

 private:
  ChildText() = default;
  util::UniqueFd output_, errors_;
  pid_t pid_ = -1;
};

}  // namespace mlrun::exchange
