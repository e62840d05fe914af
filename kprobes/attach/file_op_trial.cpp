// SPDX-License-Identifier: Apache-2.0
#include "kprobes/attach/file_op_trial.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "kprobes/attach/privilege.h"
#include "runner/util/unique_fd.h"

namespace mlrun::probes {

namespace {

constexpr const char* kNoFile = "/proc/self/mlrun-has-no-such-file";

// The child makes only system calls: the parent may have had threads when it forked.
void do_all() {
  std::array<char, 4096> page{};
  int pipe[2] = {-1, -1};
  const int file = ::memfd_create("mlrun-probes", MFD_CLOEXEC);
  bool done = file >= 0 && ::pipe2(pipe, O_CLOEXEC) == 0 && ::pwrite(file, page.data(), page.size(), 0) > 0;
  done = done && ::pread(file, page.data(), page.size(), 0) > 0 && ::fsync(file) == 0;
  off_t from = 0;
  loff_t to = 0;
  done = done && ::sendfile(pipe[1], file, &from, page.size()) > 0;
  done = done && ::splice(pipe[0], nullptr, file, &to, page.size(), 0) > 0 && ::ftruncate(file, 1) == 0;
  ::close(file);
  ::close(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::close(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // a directory, so that a path is recorded
  const bool none = ::unlink(kNoFile) != 0 && ::rmdir(kNoFile) != 0 && ::rename(kNoFile, kNoFile) != 0;
  ::_exit(done && none && ::mkdir("/", S_IRWXU) != 0 ? 0 : 1);
}

}  // namespace

Status try_file_ops(const std::function<int(int pidfd)>& follow) {
  int gate[2] = {-1, -1};
  if (::pipe2(gate, O_CLOEXEC) != 0) return fail_errno("make a pipe for the test of file operations", errno);
  util::UniqueFd behind(gate[0]), before(gate[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    before.reset();
    drop_capabilities();
    char go = 0;
    (void)!::read(behind.get(), &go, 1);
    do_all();
  }
  if (child < 0) return fail_errno("fork", errno);
  const util::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const int error = pidfd.valid() ? follow(pidfd.get()) : errno;
  before.reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (error != 0) return fail_errno("trace the test of file operations", error);
  if (status != 0) return fail("an operation in the test of file operations failed");
  return {};
}

}  // namespace mlrun::probes
