// SPDX-License-Identifier: Apache-2.0
#include "kprobes/self_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "kprobes/attach/privilege.h"
#include "kprobes/signals.h"
#include "runner/events/kernel_record.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {

namespace {

constexpr size_t kPieceBytes = 64 << 10;
constexpr int kPieces = 16;  // more than one: some kernels drop an event now and then
constexpr useconds_t kLongWaitUs = 5000;

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

// An unnamed file (O_TMPFILE) in the first folder that is on a block device and allows it.
util::UniqueFd scratch_file() {
  for (const char* folder : {"/var/tmp", "/tmp", "."}) {
    util::UniqueFd fd(::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    struct stat status {};
    if (fd.valid() && ::fstat(fd.get(), &status) == 0 && major(status.st_dev) != 0) return fd;
  }
  return {};
}

// Writes, drops the pages from the page cache and reads again.
bool work_on(int fd) {
  const std::unique_ptr<void, FreeDeleter> piece(std::calloc(1, kPieceBytes));
  for (int i = 0; i < kPieces; i++) {
    if (::pwrite(fd, piece.get(), kPieceBytes, i * static_cast<off_t>(kPieceBytes)) < 0) return false;
  }
  if (::fsync(fd) != 0 || ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
  for (int i = 0; i < kPieces; i++) {
    if (::pread(fd, piece.get(), kPieceBytes, i * static_cast<off_t>(kPieceBytes)) < 0) return false;
  }
  return true;
}

// Runs work_on in a child process: a traced command is a child, too.
bool work_in_child(int fd) {
  const pid_t child = ::fork();
  if (child == 0) {
    drop_capabilities();
    ::usleep(kLongWaitUs);
    ::_exit(fd < 0 || work_on(fd) ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

// Records by kind, and file operations by operation.
struct Seen {
  std::map<uint32_t, int> kinds, file_ops;
  void add(const void* record, size_t bytes) {
    mlrun_kernel_head head{};
    __builtin_memcpy(&head, record, sizeof head);
    ++kinds[head.kind];
    mlrun_file_op operation{};
    if (head.kind != MLRUN_KERNEL_FILE_OP || bytes < sizeof operation) return;
    __builtin_memcpy(&operation, record, sizeof operation);
    ++file_ops[operation.op];
  }
  bool has(uint32_t kind) { return kinds[kind] != 0; }
  // Whether reads, writes and syncs were recorded on the scratch file's own file system. FileOps::attach tries only a file
  // in memory.
  bool has_reads_and_writes() {
    return file_ops[MLRUN_FILE_READ] >= kPieces && file_ops[MLRUN_FILE_WRITE] >= kPieces &&
           file_ops[MLRUN_FILE_SYNC] != 0;
  }
};

TriedSignal tried_signal(const Signal& signal, Seen& seen, bool has_device) {
  const auto is = [&](const char* name) { return signal.name == name; };
  const auto partial = [&](const std::string& doubt) {
    return TriedSignal{signal.name, signal.mechanism, doubt, true};
  };
  if (signal.mechanism.empty()) return partial(fmt::format("no {}: {}", signal.name, signal.missing));
  if ((is("block I/O") || is("page cache") || is("write-back")) && !has_device) {
    return partial(signal.name +
                   ": not tried, because no scratch file can be made on a block device (in /var/tmp, /tmp or the "
                   "working directory)");
  }
  const bool recorded_nothing =
      (is("block I/O") && (!seen.has(MLRUN_KERNEL_FRAGMENT) || !seen.has(MLRUN_KERNEL_REQUEST))) ||
      (is("page cache") && !seen.has(MLRUN_KERNEL_PAGES)) || (is("waits") && !seen.has(MLRUN_KERNEL_WAIT)) ||
      (is("file operations") && has_device && !seen.has_reads_and_writes());
  if (recorded_nothing) return partial(signal.name + ": attached, but a test of it recorded nothing");
  if (is("file operations") && signal.mechanism == "tracepoint") {
    return partial(fmt::format("no {}; file operations are not recorded with --preload; without --preload they are {}",
                               signal.missing, signal.note));
  }
  if (signal.missing.empty()) {
    return {signal.name, signal.mechanism, signal.note.empty() ? "" : signal.name + ": " + signal.note, false};
  }
  return partial(
      fmt::format("{}: {}{}not {}", signal.name, signal.note, signal.note.empty() ? "" : "; ", signal.missing));
}

}  // namespace

Result<std::vector<TriedSignal>> self_test() {
  Seen seen;
  Streams streams;
  streams.file_calls = true;
  const auto probes = Probes::load(streams, [&](const void* record, size_t bytes) { seen.add(record, bytes); });
  if (!probes) return tl::make_unexpected(probes.error());
  const util::UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const util::UniqueFd file = scratch_file();
  const bool worked = self.valid() && (*probes)->follow(self.get()) == 0 && work_in_child(file.get());
  (*probes)->detach();
  (*probes)->drain();
  std::vector<TriedSignal> tried;
  for (const Signal& signal : signals_of(**probes, mounted_served_types())) {
    if (worked || signal.mechanism.empty()) {
      tried.push_back(tried_signal(signal, seen, file.valid()));
    } else {
      tried.push_back({signal.name, signal.mechanism, signal.name + ": its test could not be run", true});
    }
  }
  return tried;
}

}  // namespace mlrun::probes
