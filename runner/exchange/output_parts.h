// SPDX-License-Identifier: Apache-2.0
// The output of a format: one file, or, if one would be too large for the tools that read it, a folder of files, each complete by
// itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runner/exchange/export.h"
#include "runner/exchange/output_file.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

class OutputParts {
 public:
  // Names of files in the folder are "part-001" and `extension`.
  OutputParts(Export& job, std::string extension, bool compresses);

  // Closes the file, if there is one, and begins the next.
  Status begin();
  // Requires: begin() succeeded.
  [[nodiscard]] OutputFile& file() { return *file_; }
  // Whether the file has as many bytes as --split wants, or `usual` without it.
  [[nodiscard]] bool is_full(uint64_t usual) const;
  // Number of the file, from 1.
  [[nodiscard]] int number() const { return number_; }
  // Closes the last file.
  Status close();

 private:
  [[nodiscard]] std::string name(int number) const;
  // Turns the output into a folder, and moves the first file into it.
  Status make_folder();

  Export* job_;
  std::string extension_;
  bool compresses_;
  std::optional<OutputFile> file_;
  int number_ = 0;
};

}  // namespace mlrun::exchange
