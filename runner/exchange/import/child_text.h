// SPDX-License-Identifier: Apache-2.0
// What a program prints, as an input. It is started without a shell, and ended with the object.
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
  // `advice`: for when the program is not there.
  static Result<std::unique_ptr<ChildText>> start(const std::vector<std::string>& words, const std::string& advice);
  ~ChildText() override;
  ChildText(const ChildText&) = delete;
  ChildText& operator=(const ChildText&) = delete;

  Result<size_t> read(char* to, size_t size) override;
  // Fails if the program did, with the last line of its errors. Requires: all was read.
  Status finish(const std::string& what);
  // The last line of its errors, printable.
  [[nodiscard]] std::string last_complaint() const;

 private:
  ChildText() = default;
  util::UniqueFd output_, errors_;
  pid_t pid_ = -1;
};

}  // namespace mlrun::exchange
