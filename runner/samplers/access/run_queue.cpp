// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/access/run_queue.h"

#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "runner/util/file_io.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::access {

namespace {

constexpr int kThreadsMost = 256;  // threads read at most: one file each

}  // namespace

RunQueue run_queue_of(pid_t pid) {
  namespace fs = std::filesystem;
  RunQueue all;
  std::error_code error;
  int threads = 0;
  for (fs::directory_iterator task(fmt::format("/proc/{}/task", pid), error), end; !error && task != end;
       task.increment(error)) {
    if (threads++ == kThreadsMost) break;
    const std::string text = util::read_text(task->path() / "schedstat", 128);
    const auto words = util::split(text, " \n");
    if (words.size() < 2) continue;
    all.ran_ns += util::leading_number<uint64_t>(words[0]);
    all.waited_ns += util::leading_number<uint64_t>(words[1]);
  }
  return all;
}

}  // namespace mlrun::access
