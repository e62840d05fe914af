// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/mini_arena.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace mlrun::preload_test {
namespace {

constexpr uint32_t kFirstStep = 128, kStep = 32, kAhead = 256;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// A container may have one.
std::string own_seccomp_filters() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp_filters:\t")) return line.substr(line.find('\t') + 1);
  return "0";
}

// Held by the collector, so that a lossless waiter sees it die.
void hold(uint32_t* lock) {
  auto* mutex = reinterpret_cast<pthread_mutex_t*>(lock);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutex_lock(mutex);
}

}  // namespace

MiniArena::MiniArena(const ArenaOptions& options) : path_(std::string(options.folder) + "/mlrun-test-XXXXXX") {
  fd_ = mkostemp(path_.data(), O_CLOEXEC);
  if (fd_ < 0) fail(path_.c_str());
  const uint64_t words = (uint64_t{options.segments} * 4 + 4095) / 4096 * 4096;
  const uint64_t front = MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES + MLRUN_PLACEMENT_BYTES;
  const uint64_t stage = front + 2 * words;
  const uint64_t segments =
      (stage + MLRUN_STAGE_BYTES + MLRUN_SEGMENT_BYTES - 1) / MLRUN_SEGMENT_BYTES * MLRUN_SEGMENT_BYTES;
  bytes_ = segments + uint64_t{options.segments} * MLRUN_SEGMENT_BYTES;
  if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) fail("ftruncate");
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapped == MAP_FAILED) fail("mmap");
  base_ = static_cast<char*>(mapped);
  if (posix_fallocate(fd_, 0, static_cast<off_t>(stage)) != 0) fail("posix_fallocate");

  mlrun_control& c = control();
  c.abi = options.abi;
  c.clock_kind = options.clock_kind;
  c.lossless = options.lossless ? 1 : 0;
  c.segment_count = options.segments;
  c.alloc_min_bytes = options.alloc_min_bytes;
  c.streams = options.streams;
  c.wait_min_ticks = options.wait_min_ticks;
  c.stack_depth = options.stack_depth;
  c.owner_offset = front;
  c.drained_offset = front + words;
  c.stage_offset = stage;
  c.segments_offset = segments;
  c.arena_bytes = bytes_;
  for (uint32_t i = 0; i < options.segments; i++) owner(i) = 1u << 24;  // lap 1, free
  hold(c.collector_lock);
  extend();
  c.state = MLRUN_RUN;
  c.magic = MLRUN_ARENA_MAGIC;
}

MiniArena::~MiniArena() {
  pthread_mutex_unlock(reinterpret_cast<pthread_mutex_t*>(control().collector_lock));  // it is in our robust list
  munmap(base_, bytes_);
  close(fd_);
  unlink(path_.c_str());
}

mlrun_channel* MiniArena::channel(uint32_t id) const {
  const uint32_t index = id / 16, slot = id % 16;
  if (index >= control().segment_count || slot == 0) return nullptr;
  return reinterpret_cast<mlrun_channel*>(segment(index) + uint64_t{slot} * MLRUN_CHANNEL_BYTES);
}

std::string MiniArena::session() const {
  return path_ + "," + std::to_string(bytes_) + "," + own_seccomp_filters() + ",/nowhere";
}

void MiniArena::extend() {
  mlrun_control& c = control();
  const uint32_t available = c.available_segments;
  const auto free_segments = static_cast<int32_t>(__atomic_load_n(&c.free_segments_hint, __ATOMIC_ACQUIRE));
  const auto wanted = static_cast<int32_t>(std::max(kAhead, available / 2));
  if (available >= c.segment_count || free_segments >= wanted) return;
  const uint32_t step = std::min(available != 0 ? kStep : kFirstStep, c.segment_count - available);
  const auto from = static_cast<off_t>(c.segments_offset + uint64_t{available} * MLRUN_SEGMENT_BYTES);
  if (posix_fallocate(fd_, from, static_cast<off_t>(step) * MLRUN_SEGMENT_BYTES) != 0) return;
  __atomic_store_n(&c.available_segments, available + step, __ATOMIC_RELEASE);
  __atomic_add_fetch(&c.free_segments_hint, step, __ATOMIC_RELEASE);
}

}  // namespace mlrun::preload_test
