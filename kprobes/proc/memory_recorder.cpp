// SPDX-License-Identifier: Apache-2.0
#include "kprobes/proc/memory_recorder.h"

#include <charconv>

#include "runner/util/file_io.h"
#include "runner/util/time_units.h"

namespace mlrun::probes {

namespace {

constexpr uint64_t kKibibyte = 1024;

// Cached:           123456 kB
std::optional<uint64_t> bytes_of(std::string_view meminfo, std::string_view name) {
  size_t at = meminfo.starts_with(name) ? 0 : meminfo.find(name);
  while (at != std::string_view::npos && at != 0 && meminfo[at - 1] != '\n') at = meminfo.find(name, at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  at = meminfo.find_first_not_of(' ', at + name.size());
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(meminfo.data() + at, meminfo.data() + meminfo.size(), value);
  return error == std::errc() ? std::optional(value * kKibibyte) : std::nullopt;
}

}  // namespace

std::optional<mlrun_memory_seen> memory_in(std::string_view meminfo) {
  const auto buffers = bytes_of(meminfo, "Buffers:"), cached = bytes_of(meminfo, "Cached:");
  if (!buffers || !cached) return std::nullopt;
  mlrun_memory_seen seen{};
  seen.buffers_bytes = *buffers;
  seen.cached_bytes = *cached;
  return seen;
}

void MemoryRecorder::sample(uint64_t now_ns) {
  if (now_ns >= next_sample_ns_) record(now_ns);
}

void MemoryRecorder::record(uint64_t now_ns) {
  next_sample_ns_ = now_ns + util::kNsPerS;
  auto seen = memory_in(util::read_text("/proc/meminfo"));
  if (!seen) return;
  seen->head.kind = MLRUN_KERNEL_MEMORY;
  seen->head.bytes = sizeof *seen;
  seen->head.time_ns = now_ns;
  spool_.add(&*seen, sizeof *seen, now_ns);
}

}  // namespace mlrun::probes
