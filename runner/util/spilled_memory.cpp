// SPDX-License-Identifier: Apache-2.0
#include "runner/util/spilled_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "runner/util/unique_fd.h"

namespace mlrun::util {

namespace {

constexpr mode_t kOwnerOnly = 0600;
// Short enough: a page fault maps up to 64 KiB and takes about a microsecond, so a thread makes at most about 64 MiB resident meanwhile.
constexpr auto kTrimPeriod = std::chrono::milliseconds(1);

std::atomic<SpillFolder*> current{nullptr};

// Opens a file without a name. Not every file system supports O_TMPFILE.
UniqueFd nameless_file(const std::string& folder) {
  UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly));
  if (file.valid()) return file;
  std::string name = folder + "/spill.XXXXXX";
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (file.valid()) ::unlink(name.c_str());
  return file;
}

void* map_anonymous(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

// Resident pages of files and shared memory.
size_t resident_file_bytes(int statm) {
  char text[128] = {};
  if (::pread(statm, text, sizeof text - 1, 0) <= 0) return 0;
  const char* third = text;  // statm: total pages, resident pages, resident pages of files and shared memory
  for (int i = 0; i < 2 && third != nullptr; ++i) third = std::strchr(third + 1, ' ');
  return third == nullptr ? 0 : std::strtoul(third, nullptr, 10) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

SpillFolder::SpillFolder(std::string folder, size_t anonymous_bytes)
    : folder_(std::move(folder)),
      anonymous_bytes_max_(anonymous_bytes),
      statm_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {
  current = this;
}

SpillFolder::~SpillFolder() {
  current = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stops_.notify_all();
  if (trimmer_.joinable()) trimmer_.join();
}

size_t SpillFolder::spilled_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [memory, size] : files_) bytes += size;
  return bytes;
}

void* SpillFolder::take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (anonymous_bytes_ + bytes > anonymous_bytes_max_) {
    if (void* memory = map_file(bytes)) return memory;
  }
  void* memory = map_anonymous(bytes);
  anonymous_bytes_ += bytes;
  return memory;
}

void SpillFolder::give_back(void* memory, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (files_.erase(memory) == 0) anonymous_bytes_ -= bytes;
  ::munmap(memory, bytes);
}

// Requires: mutex_ is held. Returns nullptr if there is no space or no file can be created. Allocates all blocks now: on a full disk, a
// write to the mapping would raise SIGBUS.
void* SpillFolder::map_file(size_t bytes) {
  const UniqueFd file = nameless_file(folder_);
  if (!file.valid() || ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  if (!trimmer_.joinable()) {
    try {
      trimmer_ = std::thread([this] { trim_until_stopped(); });
    } catch (const std::system_error&) {
      ::munmap(memory, bytes);
      return nullptr;
    }
  }
  files_.emplace(memory, bytes);
  return memory;
}

// Requires: mutex_ is held. Dropped pages stay in the page cache, with their changes, until the kernel needs the
// memory.
void SpillFolder::trim_if_large() {
  const size_t known_bytes = others_bytes_ == SIZE_MAX ? 0 : others_bytes_;
  if (files_.empty() || resident_file_bytes(statm_.get()) < known_bytes + kResidentBytes) return;
  for (const auto& [memory, bytes] : files_) ::madvise(memory, bytes, MADV_DONTNEED);
  // Other threads may have touched pages of our files since madvise, so the smallest value is the best estimate.
  others_bytes_ = std::min(others_bytes_, resident_file_bytes(statm_.get()));
}

void SpillFolder::trim() {
  const std::lock_guard lock(mutex_);
  trim_if_large();
}

void SpillFolder::trim_until_stopped() {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!stops_.wait_for(lock, kTrimPeriod, [this] { return stopped_; })) trim_if_large();
}

void* LargeMemory::take(size_t bytes) {
  if (SpillFolder* folder = current) return folder->take(bytes);
  return map_anonymous(bytes);
}

void LargeMemory::give_back(void* memory, size_t bytes) {
  if (SpillFolder* folder = current) {
    folder->give_back(memory, bytes);
  } else {
    ::munmap(memory, bytes);
  }
}

void LargeMemory::trim() {
  if (SpillFolder* folder = current) folder->trim();
}

}  // namespace mlrun::util
