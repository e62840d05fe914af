// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/store/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/file_io.h"
#include "runner/util/proc_files.h"

namespace mlrun::sweep {

namespace {

constexpr uint64_t kWaitNs = 30'000'000'000;    // waits so long for the supervisor of a killed sweep
constexpr uint64_t kUnnamedNs = 1'000'000'000;  // the holder of the lock writes its mark within this time

ProcessMark holder_of(const std::string& path) {
  ProcessMark mark;
  std::istringstream words(util::read_text(path, 256));
  words >> mark.pid >> mark.start_ticks >> mark.boot_id;
  return mark;
}

}  // namespace

ProcessMark own_mark() {
  const auto pid = static_cast<uint32_t>(::getpid());
  const auto stat = util::read_proc_stat(pid);
  return {pid, stat ? stat->start_ticks : 0, util::boot_id()};
}

bool is_alive(const ProcessMark& mark) {
  if (mark.pid <= 0 || mark.boot_id != util::boot_id()) return false;
  const auto stat = util::read_proc_stat(static_cast<uint32_t>(mark.pid));
  return stat && !stat->ended && stat->start_ticks == mark.start_ticks;
}

Result<FolderLock> FolderLock::take(const std::string& folder) {
  const std::string path = folder + "/sweep.lock";
  FolderLock lock;
  lock.fd_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.fd_.valid()) return fail_errno("open " + path, errno);
  const uint64_t begin_ns = util::monotonic_ns();
  while (::flock(lock.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno("lock " + path, errno);
    const uint64_t waited_ns = util::monotonic_ns() - begin_ns;
    const ProcessMark holder = holder_of(path);
    if (is_alive(holder) || waited_ns > kWaitNs || (holder.pid == 0 && waited_ns > kUnnamedNs)) {
      return fail(
          fmt::format("another sweep is running in {} (process {}); wait for it, or name another folder with -o",
                      folder, holder.pid));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const ProcessMark self = own_mark();
  const std::string text = fmt::format("{} {} {}\n", self.pid, self.start_ticks, self.boot_id);
  // Used only by the loop above of another sweep, for its message and its wait, so a failed write does not matter.
  if (::ftruncate(lock.fd_.get(), 0) == 0) {
    [[maybe_unused]] const ssize_t put = ::pwrite(lock.fd_.get(), text.data(), text.size(), 0);
  }
  return lock;
}

}  // namespace mlrun::sweep
