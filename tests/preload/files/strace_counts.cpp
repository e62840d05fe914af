// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/files/strace_counts.h"

#include <fstream>
#include <regex>
#include <stdexcept>

#include "tests/preload/files/recorded_run.h"

namespace mlrun::preload_test {

namespace {

void count(const std::string& call, int64_t result, StraceCounts& counts) {
  if (call == "getdents64") counts.directory_reads++;
  if (result < 0) return;
  const auto bytes = static_cast<uint64_t>(result);
  if (call == "close") counts.closes++;
  if (call.find("read") != std::string::npos) {
    (bytes > 0 ? counts.reads : counts.empty_reads)++;
    counts.read_bytes += bytes;
  }
  if (call.find("write") != std::string::npos) {
    counts.writes++;
    counts.write_bytes += bytes;
  }
}

}  // namespace

StraceCounts strace_counts(const std::vector<std::string>& command, const std::string& path) {
  const TemporaryFolder folder;
  std::vector<std::string> watched = {
      "strace",
      "-f",
      "-y",
      "-s",
      "0",
      "-o",
      folder / "strace",
      "-e",
      "trace=read,pread64,readv,preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2,getdents64,open,openat,close"};
  watched.insert(watched.end(), command.begin(), command.end());
  RunOptions untraced;
  untraced.library = "none";
  if (run_traced(watched, untraced).exit_code() == 127) throw std::runtime_error("strace is not installed");
  StraceCounts counts;
  // "123 read(3</path>, ...) = 45", "123 openat(...) = 3</path>"
  static const std::regex on_descriptor(R"(^\d+ +(\w+)\(\d+<([^>]*)>.*\) += (-?\d+).*$)");
  static const std::regex opened(R"(^\d+ +open(at)?\(.* += \d+<([^>]*)>$)");
  std::ifstream lines(folder / "strace");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, opened) && match[2] == path)
      counts.opens++;
    else if (std::regex_match(line, match, on_descriptor) && match[2] == path)
      count(match[1], std::stoll(match[3]), counts);
  }
  return counts;
}

}  // namespace mlrun::preload_test
