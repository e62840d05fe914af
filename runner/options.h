// SPDX-License-Identifier: Apache-2.0
// The command line of each verb that this program runs itself, as values that have been checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/util/result.h"

namespace mlrun {

using Arguments = std::vector<std::string>;

// How much a stream was asked for.
enum class Wish {
  kAuto,     // if it works here
  kOn,       // named
  kRequire,  // or else the command is not run
  kOff
};

struct RunOptions {
  Wish preload = Wish::kAuto;
  bool files = true;
  bool allocs = true;
  std::optional<std::string> output;
  uint64_t alloc_min_bytes = 1024;
  bool lossless = false;
  std::optional<uint64_t> buffer_bytes;
  std::optional<uint64_t> max_spool_bytes;
  std::vector<std::string> mllog;  // absolute paths
  bool wait_all = false;
  bool defer_merge = false;
  bool keep_raw = false;
  bool quiet = false;
  bool verbose = false;
  std::vector<std::string> command;  // not empty
};

struct FolderOptions {
  std::string folder;
  bool quiet = false;
  bool keep_raw = false;
};

struct CleanOptions {
  bool dry_run = false;
  bool all = false;
};

// Each returns nothing when help was asked for and has been printed.
Result<std::optional<RunOptions>> parse_run(const Arguments& arguments);
Result<std::optional<FolderOptions>> parse_recover(const Arguments& arguments);
Result<std::optional<FolderOptions>> parse_folder(const std::string& verb, const std::string& does,
                                                  const Arguments& arguments);
Result<std::optional<CleanOptions>> parse_clean(const Arguments& arguments);
Result<bool> parse_nothing(const std::string& verb, const std::string& does, const Arguments& arguments);

}  // namespace mlrun
