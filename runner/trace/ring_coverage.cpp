// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/ring_coverage.h"

#include <string_view>

#include <fmt/format.h>

namespace mlrun::trace {

namespace {

// libcufile reads it when a program has called it, and not when it is merely loaded, as by PyTorch.
constexpr const char* kCuFileMark = "/proc/driver/nvidia-fs/devcount";

}  // namespace

// libc's mmap leaves a row with the name of the ring; a program that goes past it is found by what it has mapped.
void add_rings(const SpoolIndex& index, const model::TraceInfo& info, const std::string& hint,
               std::vector<model::CoverageRow>& rows) {
  bool io_uring = false, aio = false;
  const auto look = [&](std::string_view path) {
    io_uring |= path == "anon_inode:[io_uring]";
    aio |= path == "/[aio] (deleted)";
  };
  for (const model::FileRow& file : info.files) look(file.path);
  for (const std::string& mapped : index.modules().libraries()) look(mapped);
  if (!io_uring && !aio) return;
  rows.push_back({0,
                  fmt::format("what {}{}{} was handed", io_uring ? "io_uring" : "", io_uring && aio ? " and " : "",
                              aio ? "Linux's aio" : ""),
                  "the kernel reads and writes it in no call of the program's; " + hint, -1, -1});
}

void add_cufile(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows) {
  bool is_used = false;
  for (const model::FileRow& file : info.files) is_used |= file.path == kCuFileMark;
  if (!is_used) return;
  rows.push_back(
      {0, "calls of cuFile (GPUDirect Storage)",
       "libcufile was used: what it moves in its compatibility mode is in the reads and writes of its threads, what "
       "the driver moves is not seen; --kprobes=cufile lists its calls, as root",
       -1, -1});
}

}  // namespace mlrun::trace
