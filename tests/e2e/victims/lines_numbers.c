// SPDX-License-Identifier: Apache-2.0
// lines_numbers FOLDER: the lines of hooks/raw.def: calls by number, through syscall(). FOLDER has a file "in" of 25,000
// bytes. What is undone between two calls is undone by name.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <utime.h>

#include "lines.h"

// S(number, what it must return, arguments...)
#define S(number, wanted, ...)   LINE_NAMED(#number, 2, syscall(number, ##__VA_ARGS__) == (wanted))
#define OPENS(number, ...)       LINE_NAMED(#number, 2, close((int)syscall(number, ##__VA_ARGS__)) == 0)
#define AFTER(undo, number, ...) LINE_NAMED(#number, 2, (undo), syscall(number, ##__VA_ARGS__) == 0)
// The call may fail because of the file system or the user's rights; that is accepted.
#define ANSWERS(number, ...) \
  LINE_NAMED(#number, 2, syscall(number, ##__VA_ARGS__) >= 0 || errno == EPERM || errno == ENODATA || errno == ENOTSUP)

enum { kMs = 3 };
static char bytes[4096];
static int in, out, top, ends[2], others[2];
static struct iovec vector[2] = {{bytes, 30}, {bytes + 100, 12}};
static const struct timespec kTime = {0, kMs * 1000000};

static void data(void) {
  off_t at = 100, to = 200;
  S(SYS_read, 10, in, bytes, 10L), S(SYS_pread64, 10, in, bytes, 10L, 7L), S(SYS_readv, 42, in, vector, 2);
  S(SYS_preadv, 42, in, vector, 2, 9L, 0L), S(SYS_preadv2, 42, in, vector, 2, 9L, 0L, 0);
  S(SYS_write, 10, out, bytes, 10L), S(SYS_pwrite64, 10, out, bytes, 10L, 7L), S(SYS_writev, 42, out, vector, 2);
  S(SYS_pwritev, 42, out, vector, 2, 9L, 0L), S(SYS_pwritev2, 42, out, vector, 2, 9L, 0L, 0);
  S(SYS_sendfile, 33, out, in, &at, 33L), S(SYS_copy_file_range, 44, in, &at, out, &to, 44L, 0);
  S(SYS_splice, 55, in, &at, ends[1], NULL, 55L, 0), S(SYS_tee, 21, ends[0], others[1], 21L, SPLICE_F_NONBLOCK);
  S(SYS_vmsplice, 42, ends[1], vector, 2L, 0), S(SYS_lseek, 7, in, 7L, SEEK_SET);
  S(SYS_fsync, 0, out), S(SYS_fdatasync, 0, out), S(SYS_sync, 0), S(SYS_syncfs, 0, out);
  S(SYS_sync_file_range, 0, out, 0L, 99L, SYNC_FILE_RANGE_WRITE), S(SYS_ftruncate, 0, out, 9000L);
  S(SYS_truncate, 0, "out", 9000L), S(SYS_fallocate, 0, out, 0, 0L, 9100L);
  S(SYS_fadvise64, 0, in, 0L, 0L, POSIX_FADV_RANDOM), S(SYS_readahead, 0, in, 0L, 4096L);
}

static void opens(void) {
  struct file_handle *handle = (struct file_handle *)bytes;
  struct open_how how = {.flags = O_RDONLY};
  int mount;
  OPENS(SYS_open, "in", O_RDONLY, 0), OPENS(SYS_openat, top, "in", O_RDONLY, 0), OPENS(SYS_creat, "new", 0600);
  OPENS(SYS_openat2, top, "in", &how, sizeof how);
  handle->handle_bytes = 128;
  ANSWERS(SYS_name_to_handle_at, top, "in", handle, &mount, 0);
  ANSWERS(SYS_open_by_handle_at, top, handle, O_RDONLY);
  LINE_NAMED("SYS_close", 2, syscall(SYS_close, dup(in)) == 0);
  S(SYS_close_range, 0, 500, 510, 0);
}

static void names(void) {
  struct stat status;
  struct statx wide;
  struct statfs system;
  S(SYS_stat, 0, "in", &status), S(SYS_fstat, 0, in, &status), S(SYS_lstat, 0, "in", &status);
  S(SYS_newfstatat, 0, top, "in", &status, 0), S(SYS_statx, 0, top, "in", 0, STATX_SIZE, &wide);
  S(SYS_access, 0, "in", R_OK), S(SYS_faccessat, 0, top, "in", R_OK), S(SYS_faccessat2, 0, top, "in", R_OK, 0);
  AFTER(creat("f", 0600), SYS_unlink, "f"), AFTER(creat("f", 0600), SYS_unlinkat, top, "f", 0);
  AFTER(creat("f", 0600), SYS_rename, "f", "g"), AFTER(creat("f", 0600), SYS_renameat, top, "f", top, "g");
  AFTER(creat("f", 0600), SYS_renameat2, top, "f", top, "g", 0);
  AFTER(rmdir("d"), SYS_mkdir, "d", 0700), AFTER(rmdir("d"), SYS_mkdirat, top, "d", 0700);
  AFTER(mkdir("d", 0700), SYS_rmdir, "d");
  AFTER(unlink("l"), SYS_link, "in", "l"), AFTER(unlink("l"), SYS_linkat, top, "in", top, "l", 0);
  AFTER(unlink("l"), SYS_symlink, "in", "l"), AFTER(unlink("l"), SYS_symlinkat, "in", top, "l");
  S(SYS_readlink, 2, "l", bytes, 99L), S(SYS_readlinkat, 2, top, "l", bytes, 99L);
  AFTER(unlink("p"), SYS_mknod, "p", S_IFREG | 0600, 0), AFTER(unlink("p"), SYS_mknodat, top, "p", S_IFREG | 0600, 0);
  S(SYS_statfs, 0, "in", &system), S(SYS_fstatfs, 0, in, &system);
  S(SYS_chdir, 0, "."), S(SYS_fchdir, 0, top), S(SYS_chroot, -1, "missing");
  LINE_NAMED("SYS_getdents", 2, lseek(top, 0, SEEK_SET) == 0 && syscall(SYS_getdents, top, bytes, 4096L) > 0);
  LINE_NAMED("SYS_getdents64", 2, lseek(top, 0, SEEK_SET) == 0 && syscall(SYS_getdents64, top, bytes, 4096L) > 0);
}

static void attributes(void) {
  struct timeval two[2] = {{1, 2}, {3, 4}};
  struct timespec fine[2] = {{1, 2}, {3, 4}};
  struct utimbuf old = {5, 6};
  S(SYS_chmod, 0, "out", 0600), S(SYS_fchmod, 0, out, 0600), S(SYS_fchmodat, 0, top, "out", 0600);
  S(SYS_chown, 0, "out", -1, -1), S(SYS_lchown, 0, "out", -1, -1), S(SYS_fchown, 0, out, -1, -1);
  S(SYS_fchownat, 0, top, "out", -1, -1, 0), S(SYS_utime, 0, "out", &old), S(SYS_utimes, 0, "out", two);
  S(SYS_futimesat, 0, top, "out", two), S(SYS_utimensat, 0, top, "out", fine, 0);
  ANSWERS(SYS_setxattr, "out", "user.a", "1", 1L, 0), ANSWERS(SYS_lsetxattr, "out", "user.b", "1", 1L, 0);
  ANSWERS(SYS_fsetxattr, out, "user.c", "1", 1L, 0), ANSWERS(SYS_getxattr, "out", "user.a", bytes, 50L);
  ANSWERS(SYS_lgetxattr, "out", "user.b", bytes, 50L), ANSWERS(SYS_fgetxattr, out, "user.c", bytes, 50L);
  ANSWERS(SYS_listxattr, "out", bytes, 99L), ANSWERS(SYS_llistxattr, "out", bytes, 99L);
  ANSWERS(SYS_flistxattr, out, bytes, 99L), ANSWERS(SYS_removexattr, "out", "user.a");
  ANSWERS(SYS_lremovexattr, "out", "user.b"), ANSWERS(SYS_fremovexattr, out, "user.c");
}

static void descriptors(void) {
  sigset_t none;
  sigemptyset(&none);
  OPENS(SYS_dup, in), S(SYS_dup2, 50, in, 50), S(SYS_dup3, 50, in, 50, O_CLOEXEC), S(SYS_flock, 0, in, LOCK_SH);
  LINE_NAMED("SYS_fcntl", 2, syscall(SYS_fcntl, in, F_GETFL) >= 0);
  S(SYS_ioctl, 0, in, FIONREAD, bytes), S(SYS_pipe, 0, others), S(SYS_pipe2, 0, others, O_CLOEXEC);
  OPENS(SYS_socket, AF_UNIX, SOCK_STREAM, 0), S(SYS_socketpair, 0, AF_UNIX, SOCK_DGRAM, 0, others);
  OPENS(SYS_eventfd, 3), OPENS(SYS_eventfd2, 3, 0), OPENS(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
  OPENS(SYS_signalfd, -1, &none, 8L), OPENS(SYS_signalfd4, -1, &none, 8L, 0), OPENS(SYS_epoll_create, 1);
  OPENS(SYS_epoll_create1, 0), OPENS(SYS_inotify_init), OPENS(SYS_inotify_init1, 0);
  ANSWERS(SYS_fanotify_init, 0, O_RDONLY);
  OPENS(SYS_memfd_create, "lines", 0), OPENS(SYS_pidfd_open, getpid(), 0);
  int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
  ANSWERS(SYS_pidfd_getfd, own, in, 0);
  int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(set, EPOLL_CTL_ADD, own, &event);
  S(SYS_epoll_ctl, 0, set, EPOLL_CTL_MOD, own, &event);
}

static void messages(void) {
  struct msghdr message = {.msg_iov = vector, .msg_iovlen = 1};
  struct mmsghdr many[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "numbered"};
  int server = socket(AF_UNIX, SOCK_STREAM, 0), from[4];
  if (bind(server, (struct sockaddr *)&name, sizeof name) || listen(server, 8)) fails("listen", 0);
  for (int i = 0; i < 4; i++) from[i] = socket(AF_UNIX, SOCK_STREAM, 0);
  LINE_NAMED("SYS_connect", 4, syscall(SYS_connect, from[n], &name, sizeof name) == 0);
  OPENS(SYS_accept, server, NULL, NULL), OPENS(SYS_accept4, server, NULL, NULL, 0);
  S(SYS_sendto, 30, others[0], bytes, 30L, 0, NULL, 0), S(SYS_recvfrom, 30, others[1], bytes, 99L, 0, NULL, NULL);
  S(SYS_sendmsg, 30, others[0], &message, 0), S(SYS_recvmsg, 30, others[1], &message, 0);
  S(SYS_sendmmsg, 2, others[0], many, 2, 0), S(SYS_recvmmsg, 2, others[1], many, 2, 0, NULL);
}

static void memory(void) {
  char *map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, in, 0);
  S(SYS_mmap, (long)map, map, 8192L, PROT_READ, MAP_PRIVATE | MAP_FIXED, in, 0L), S(SYS_msync, 0, map, 4096L, MS_ASYNC);
  S(SYS_madvise, 0, map, 8192L, MADV_WILLNEED), S(SYS_mremap, (long)map, map, 8192L, 8192L, 0);
  S(SYS_mprotect, 0, map, 8192L, PROT_READ), S(SYS_pkey_mprotect, 0, map, 8192L, PROT_READ, -1);
  long end = (long)sbrk(0);
  S(SYS_munmap, 0, map, 8192L), S(SYS_brk, end, 0L);
}

static void ignored(int number) { (void)number; }

static pid_t child_that_sleeps(void) {
  pid_t child = fork();
  if (child == 0) usleep(kMs * 1000), _exit(0);
  return child;
}

#define WAITS(number, wanted, ...) LINE_NAMED(#number, 2, WAITED(syscall(number, ##__VA_ARGS__) == (wanted)))

static void waits_with_an_end(void) {
  struct pollfd one = {.fd = -1};
  struct timespec left;
  struct timeval wide;
  struct epoll_event event;
  struct sembuf take = {0, -1, 0};
  struct futex_waitv word = {.uaddr = (uintptr_t)bytes, .flags = FUTEX_32};
  uint32_t value = 0;
  sigset_t none;
  int epoll = epoll_create1(0), id = semget(IPC_PRIVATE, 1, 0600);
  sigemptyset(&none);
  WAITS(SYS_poll, 0, &one, 1L, kMs), WAITS(SYS_epoll_wait, 0, epoll, &event, 1, kMs);
  LINE_NAMED("SYS_ppoll", 2, WAITED(left = kTime, syscall(SYS_ppoll, &one, 1L, &left, NULL, 8L) == 0));
  LINE_NAMED("SYS_select", 2,
             WAITED(wide = (struct timeval){0, kMs * 1000}, syscall(SYS_select, 0, NULL, NULL, NULL, &wide) == 0));
  LINE_NAMED("SYS_pselect6", 2, WAITED(left = kTime, syscall(SYS_pselect6, 0, NULL, NULL, NULL, &left, NULL) == 0));
  WAITS(SYS_epoll_pwait, 0, epoll, &event, 1, kMs, NULL, 8L);
  WAITS(SYS_epoll_pwait2, 0, epoll, &event, 1, &kTime, NULL, 8L);
  WAITS(SYS_rt_sigtimedwait, -1, &none, NULL, &kTime, 8L), WAITS(SYS_semtimedop, -1, id, &take, 1L, &kTime);
  WAITS(SYS_nanosleep, 0, &kTime, NULL), WAITS(SYS_clock_nanosleep, 0, CLOCK_MONOTONIC, 0, &kTime, NULL);
  WAITS(SYS_futex, -1, &value, FUTEX_WAIT, 0, &kTime, NULL, 0);
  memset(bytes, 0, 4);
  LINE_NAMED("SYS_futex_waitv", 2,
             WAITED(clock_gettime(CLOCK_MONOTONIC, &left), left.tv_sec += left.tv_nsec >= 990000000,
                    left.tv_nsec = (left.tv_nsec + 5000000) % 1000000000,
                    syscall(SYS_futex_waitv, &word, 1, 0, &left, CLOCK_MONOTONIC) == -1 && errno == ETIMEDOUT));
  semctl(id, 0, IPC_RMID);
}

static void waits_for_others(void) {
  const struct sigaction action = {.sa_handler = ignored};
  const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
  struct sembuf take = {0, -1, 0}, give = {0, 1, 0};
  sigset_t none;
  siginfo_t info;
  pid_t child;
  int id = semget(IPC_PRIVATE, 1, 0600);
  sigemptyset(&none);
  LINE_NAMED("SYS_wait4", 2, WAITED(child = child_that_sleeps(), syscall(SYS_wait4, child, NULL, 0, NULL) == child));
  LINE_NAMED("SYS_waitid", 2,
             WAITED(child = child_that_sleeps(), syscall(SYS_waitid, P_PID, child, &info, WEXITED, NULL) == 0));
  child = fork();
  while (child == 0) usleep(kMs * 1000), semtimedop(id, &give, 1, &kTime);
  WAITS(SYS_semop, 0, id, &take, 1L);
  kill(child, SIGKILL), waitpid(child, NULL, 0), semctl(id, 0, IPC_RMID);
  sigaction(SIGALRM, &action, NULL), setitimer(ITIMER_REAL, &often, NULL);
  WAITS(SYS_pause, -1), WAITS(SYS_rt_sigsuspend, -1, &none, 8L);
  setitimer(ITIMER_REAL, &never, NULL);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  in = open("in", O_RDONLY), out = open("out", O_CREAT | O_RDWR, 0600), top = open(".", O_RDONLY | O_DIRECTORY);
  if (pipe(ends) || pipe(others)) return 2;
  data(), opens(), names(), attributes(), descriptors(), messages(), memory(), waits_with_an_end(), waits_for_others();
  return 0;
}
