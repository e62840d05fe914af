// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/mapped_arena.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runner/collect/ring_memory.h"
#include "runner/collect/shared_word.h"

namespace mlrun::collect {

namespace {

// The trace folder is stored at the end of the control page; no producer reads it.
constexpr size_t kFolderOffset = 2048;
constexpr size_t kFolderBytes = MLRUN_CONTROL_BYTES - kFolderOffset;
static_assert(sizeof(mlrun_control) <= kFolderOffset);

// Allocates the blocks of everything before the segments: in a sparse file, a write on a full file system raises SIGBUS.
int allocate_front(int fd, const ArenaLayout& layout) {
  if (::ftruncate(fd, static_cast<off_t>(layout.bytes)) != 0) return errno;
  return ::posix_fallocate(fd, 0, static_cast<off_t>(layout.segments_offset));
}

}  // namespace

Status Arena::map(const std::string& path) {
  path_ = path;
  memory_ =
      util::Mapping(::mmap(nullptr, layout_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0), layout_.bytes);
  if (!memory_.valid()) return fail_errno("map the arena " + path, errno);
  stage_ = map_ring(fd_.get(), static_cast<off_t>(layout_.stage_offset));
  if (!stage_.valid()) return fail_errno("map the staging ring of " + path, errno);
  ::madvise(memory_.data(), memory_.size(), MADV_DONTDUMP);
  return {};
}

void Arena::fill_control(const ArenaOptions& options) {
  mlrun_control& page = control();
  page.abi = MLRUN_ABI;
  page.clock_kind = options.clock_kind;
  page.lossless = options.lossless ? 1 : 0;
  page.segment_count = layout_.segment_count;
  page.alloc_min_bytes = options.alloc_min_bytes;
  page.alloc_sample_bytes = options.alloc_sample_bytes;
  page.streams = options.streams;
  page.wait_min_ticks = options.wait_min_ticks;
  page.stack_depth = options.stack_depth;
  page.graph_nodes_per_s = options.graph_nodes_per_s;
  page.owner_offset = layout_.owner_offset;
  page.drained_offset = layout_.drained_offset;
  page.stage_offset = layout_.stage_offset;
  page.segments_offset = layout_.segments_offset;
  page.arena_bytes = layout_.bytes;
  std::copy(options.session.begin(), options.session.end(), page.session);
  const std::string folder = options.trace_folder.substr(0, kFolderBytes - 1);
  std::copy(folder.begin(), folder.end(), memory_.data() + kFolderOffset);
  page.rules_bytes = static_cast<__u32>(options.path_rules.size());
  std::copy(options.path_rules.begin(), options.path_rules.end(), memory_.data() + MLRUN_CONTROL_BYTES);
  std::copy(options.placement.begin(), options.placement.end(),
            memory_.data() + MLRUN_CONTROL_BYTES + MLRUN_RULES_BYTES);
  for (uint32_t i = 0; i < layout_.segment_count; i++) owner(i) = 1u << 24;  // free, first lap
  store(page.state, uint32_t{MLRUN_PAUSE});
  store(page.magic, __u64{MLRUN_ARENA_MAGIC});
}

Result<Arena> Arena::create(const std::string& path, const ArenaOptions& options) {
  Arena arena;
  arena.layout_ = make_arena_layout(options.segment_count);
  arena.clock_kind_ = options.clock_kind;
  arena.fd_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!arena.fd_.valid()) return fail_errno("create the arena " + path, errno);
  // The lock is held for the life of this process; `mlrun clean` removes only arenas without a lock.
  ::flock(arena.fd_.get(), LOCK_EX | LOCK_NB);
  const int error = allocate_front(arena.fd_.get(), arena.layout_);
  Status mapped = error == 0 ? arena.map(path) : fail_errno("allocate the arena " + path, error);
  if (!mapped) {
    ::unlink(path.c_str());
    return tl::make_unexpected(mapped.error());
  }
  arena.fill_control(options);
  return arena;
}

Result<Arena> Arena::open(const std::string& path) {
  Arena arena;
  arena.fd_.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!arena.fd_.valid()) return fail_errno("open the arena " + path, errno);
  mlrun_control page{};
  const ssize_t got = ::pread(arena.fd_.get(), &page, sizeof page, 0);
  if (got != static_cast<ssize_t>(sizeof page) || page.magic != MLRUN_ARENA_MAGIC) {
    return fail(path + " is not an arena (event buffer) of mlrun: the file is damaged or was replaced");
  }
  if (page.abi != MLRUN_ABI) return fail(path + " was made by another version of mlrun; use that version");
  struct stat status {};
  ::fstat(arena.fd_.get(), &status);
  const bool sane_count = page.segment_count >= 1 && page.segment_count <= MLRUN_MAX_SEGMENTS;
  arena.layout_ = make_arena_layout(sane_count ? page.segment_count : 1);
  if (!sane_count || static_cast<uint64_t>(status.st_size) != arena.layout_.bytes) {
    return fail(path + " is damaged: its size does not fit its control page");
  }
  arena.clock_kind_ = page.clock_kind == MLRUN_CLOCK_TSC ? MLRUN_CLOCK_TSC : MLRUN_CLOCK_MONOTONIC;
  if (Status mapped = arena.map(path); !mapped) return tl::make_unexpected(mapped.error());
  return arena;
}

Uuid Arena::session() const {
  Uuid session{};
  std::copy(std::begin(control().session), std::end(control().session), session.begin());
  return session;
}

std::string Arena::trace_folder() const {
  const char* text = memory_.data() + kFolderOffset;
  return {text, strnlen(text, kFolderBytes)};
}

}  // namespace mlrun::collect
