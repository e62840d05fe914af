// SPDX-License-Identifier: Apache-2.0
// by_number FOLDER: each call twice, by name and by number with the same arguments: their rows must say the same. What a
// call makes is undone before each, so that both get the same descriptor and the same result.
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <utime.h>

#include "family.h"

#define BOTH(number, call, ...)        TWICE((void)0, number, call, __VA_ARGS__)
#define TWICE(undo, number, call, ...) (undo), (call), (undo), syscall(number, __VA_ARGS__)
#define MAKES(number, call, ...)       close(call), close((int)syscall(number, ##__VA_ARGS__))
#define MESSAGE(call)                  (message.msg_controllen = 0, call)

static char bytes[4096];
static int in, out, top, ends[2], others[2];

static void moves(void) {
  struct iovec vector[2] = {{bytes, 30}, {bytes + 100, 12}};
  off_t at, to;
  BOTH(SYS_readv, readv(in, vector, 2), in, vector, 2), BOTH(SYS_preadv, preadv(in, vector, 2, 70), in, vector, 2, 70L);
  BOTH(SYS_preadv2, preadv2(in, vector, 1, 71, RWF_HIPRI), in, vector, 1, 71L, 0L, RWF_HIPRI);
  BOTH(SYS_writev, writev(out, vector, 2), out, vector, 2);
  BOTH(SYS_pwritev, pwritev(out, vector, 2, 90), out, vector, 2, 90L);
  BOTH(SYS_pwritev2, pwritev2(out, vector, 1, 91, RWF_DSYNC), out, vector, 1, 91L, 0L, RWF_DSYNC);
  TWICE(at = 500, SYS_sendfile, sendfile(out, in, &at, 33), out, in, &at, 33L);
  TWICE((at = 500, to = 900), SYS_copy_file_range, copy_file_range(in, &at, out, &to, 44, 0), in, &at, out, &to, 44L,
        0);
  TWICE(at = 600, SYS_splice, splice(in, &at, ends[1], NULL, 55, SPLICE_F_MOVE), in, &at, ends[1], NULL, 55L,
        SPLICE_F_MOVE);
  BOTH(SYS_tee, tee(ends[0], others[1], 21, SPLICE_F_NONBLOCK), ends[0], others[1], 21L, SPLICE_F_NONBLOCK);
  BOTH(SYS_vmsplice, vmsplice(ends[1], vector, 2, SPLICE_F_GIFT), ends[1], vector, 2L, SPLICE_F_GIFT);
}

static void reaches_the_disk(void) {
  BOTH(SYS_lseek, lseek(in, 7, SEEK_SET), in, 7L, SEEK_SET), BOTH(SYS_fsync, fsync(out), out);
  BOTH(SYS_fdatasync, fdatasync(out), out), BOTH(SYS_syncfs, syncfs(out), out),
      BOTH(SYS_ftruncate, ftruncate(out, 5000), out, 5000L);
  BOTH(SYS_sync_file_range, sync_file_range(out, 1, 2, SYNC_FILE_RANGE_WRITE), out, 1L, 2L, SYNC_FILE_RANGE_WRITE);
  BOTH(SYS_truncate, truncate("out", 6000), "out", 6000L), BOTH(SYS_fallocate, fallocate(out, 1, 3, 4), out, 1, 3L, 4L);
  BOTH(SYS_readahead, readahead(in, 5, 6), in, 5L, 6L), BOTH(SYS_flock, flock(in, LOCK_SH), in, LOCK_SH);
}

static void names(void) {
  struct stat status;
  struct statx wide;
  struct statfs system;
  BOTH(SYS_statx, statx(top, "in", AT_STATX_DONT_SYNC, STATX_SIZE, &wide), top, "in", AT_STATX_DONT_SYNC, STATX_SIZE,
       &wide);
  BOTH(SYS_newfstatat, fstatat(top, "in", &status, AT_SYMLINK_NOFOLLOW), top, "in", &status, AT_SYMLINK_NOFOLLOW);
  BOTH(SYS_lstat, lstat("in", &status), "in", &status), BOTH(SYS_access, access("in", R_OK), "in", R_OK);
  BOTH(SYS_faccessat, faccessat(top, "in", W_OK, 0), top, "in", W_OK);
  BOTH(SYS_faccessat2, faccessat(top, "in", W_OK, AT_EACCESS), top, "in", W_OK, AT_EACCESS);
  TWICE(rmdir("d"), SYS_mkdir, mkdir("d", 0711), "d", 0711),
      TWICE(rmdir("d"), SYS_mkdirat, mkdirat(top, "d", 0712), top, "d", 0712);
  TWICE(mkdir("d", 0700), SYS_rmdir, rmdir("d"), "d"),
      TWICE(mkdir("d", 0700), SYS_unlinkat, unlinkat(top, "d", AT_REMOVEDIR), top, "d", AT_REMOVEDIR);
  rmdir("d"), TWICE(unlink("l"), SYS_link, link("in", "l"), "in", "l");
  TWICE(unlink("l"), SYS_linkat, linkat(top, "in", top, "l", AT_SYMLINK_FOLLOW), top, "in", top, "l",
        AT_SYMLINK_FOLLOW);
  TWICE(unlink("l"), SYS_symlink, symlink("in", "l"), "in", "l"),
      TWICE(unlink("l"), SYS_symlinkat, symlinkat("in", top, "l"), "in", top, "l");
  link("in", "l"), TWICE(rename("m", "l"), SYS_rename, rename("l", "m"), "l", "m");
  TWICE(rename("m", "l"), SYS_renameat, renameat(top, "l", top, "m"), top, "l", top, "m");
  TWICE(rename("m", "l"), SYS_renameat2, renameat2(top, "l", top, "m", RENAME_NOREPLACE), top, "l", top, "m",
        RENAME_NOREPLACE);
  TWICE(link("in", "l"), SYS_unlink, unlink("l"), "l"), unlink("l"), symlink("in", "l");
  BOTH(SYS_readlink, readlink("l", bytes, 77), "l", bytes, 77L),
      BOTH(SYS_readlinkat, readlinkat(top, "l", bytes, 78), top, "l", bytes, 78L);
  BOTH(SYS_statfs, statfs("in", &system), "in", &system), BOTH(SYS_fstatfs, fstatfs(in, &system), in, &system);
}

static void attributes(void) {
  struct timeval two[2] = {{1, 2}, {3, 4}};
  struct timespec fine[2] = {{1, 2}, {3, 4}};
  struct utimbuf old = {5, 6};
  struct file_handle *handle = (struct file_handle *)bytes;
  int mount;
  BOTH(SYS_chmod, chmod("out", 0604), "out", 0604), BOTH(SYS_fchmod, fchmod(out, 0606), out, 0606);
  BOTH(SYS_fchmodat, fchmodat(top, "out", 0605, 0), top, "out", 0605),
      BOTH(SYS_chown, chown("out", -1, 0), "out", -1, 0);
  BOTH(SYS_lchown, lchown("l", 0, -1), "l", 0, -1), BOTH(SYS_fchown, fchown(out, -1, 0), out, -1, 0);
  BOTH(SYS_fchownat, fchownat(top, "l", 0, -1, AT_SYMLINK_NOFOLLOW), top, "l", 0, -1, AT_SYMLINK_NOFOLLOW);
  BOTH(SYS_utime, utime("out", &old), "out", &old), BOTH(SYS_utimes, utimes("out", two), "out", two);
  BOTH(SYS_futimesat, futimesat(top, "out", two), top, "out", two);
  BOTH(SYS_utimensat, utimensat(top, "l", fine, AT_SYMLINK_NOFOLLOW), top, "l", fine, AT_SYMLINK_NOFOLLOW);
  TWICE(unlink("p"), SYS_mknod, mknod("p", S_IFREG | 0640, 0), "p", S_IFREG | 0640, 0);
  TWICE(unlink("p"), SYS_mknodat, mknodat(top, "p", S_IFREG | 0641, 0), top, "p", S_IFREG | 0641, 0);
  BOTH(SYS_setxattr, setxattr("out", "user.a", "123", 3, 0), "out", "user.a", "123", 3L, 0);
  BOTH(SYS_lsetxattr, lsetxattr("out", "user.b", "12", 2, 0), "out", "user.b", "12", 2L, 0);
  BOTH(SYS_fsetxattr, fsetxattr(out, "user.c", "1", 1, 0), out, "user.c", "1", 1L, 0);
  BOTH(SYS_getxattr, getxattr("out", "user.a", bytes, 50), "out", "user.a", bytes, 50L);
  BOTH(SYS_lgetxattr, lgetxattr("out", "user.b", bytes, 51), "out", "user.b", bytes, 51L);
  BOTH(SYS_fgetxattr, fgetxattr(out, "user.c", bytes, 52), out, "user.c", bytes, 52L);
  BOTH(SYS_listxattr, listxattr("out", bytes, 60), "out", bytes, 60L),
      BOTH(SYS_llistxattr, llistxattr("out", bytes, 61), "out", bytes, 61L);
  BOTH(SYS_flistxattr, flistxattr(out, bytes, 62), out, bytes, 62L),
      BOTH(SYS_removexattr, removexattr("out", "user.n"), "out", "user.n");
  BOTH(SYS_lremovexattr, lremovexattr("out", "user.n"), "out", "user.n"),
      BOTH(SYS_fremovexattr, fremovexattr(out, "user.n"), out, "user.n");
  handle->handle_bytes = 128;
  BOTH(SYS_name_to_handle_at, name_to_handle_at(top, "in", handle, &mount, AT_SYMLINK_FOLLOW), top, "in", handle,
       &mount, AT_SYMLINK_FOLLOW);
  MAKES(SYS_open_by_handle_at, open_by_handle_at(top, handle, O_RDONLY), top, handle, O_RDONLY);
}

static void opens(void) {
  MAKES(SYS_open, open("new", O_CREAT | O_RDWR, 0601), "new", O_CREAT | O_RDWR, 0601),
      MAKES(SYS_creat, creat("new", 0602), "new", 0602);
  MAKES(SYS_openat, openat(top, "new", O_WRONLY), top, "new", O_WRONLY), MAKES(SYS_dup, dup(in), in);
  TWICE(close(50), SYS_dup2, dup2(in, 50), in, 50),
      TWICE(close(51), SYS_dup3, dup3(in, 51, O_CLOEXEC), in, 51, O_CLOEXEC);
  BOTH(SYS_close_range, close_range(60, 70, 0), 60, 70, 0),
      TWICE((close(others[0]), close(others[1])), SYS_pipe2, pipe2(others, O_CLOEXEC), others, O_CLOEXEC);
  TWICE((close(others[0]), close(others[1])), SYS_socketpair, socketpair(AF_UNIX, SOCK_DGRAM, 0, others), AF_UNIX,
        SOCK_DGRAM, 0, others);
  MAKES(SYS_fcntl, fcntl(in, F_DUPFD, 40), in, F_DUPFD, 40),
      BOTH(SYS_ioctl, ioctl(ends[0], FIONREAD, bytes), ends[0], FIONREAD, bytes);
  int folder = open(".", O_RDONLY | O_DIRECTORY);
  TWICE(lseek(folder, 0, SEEK_SET), SYS_getdents64, getdents64(folder, bytes, 2000), folder, bytes, 2000L),
      close(folder);
}

static void special(void) {
  sigset_t none;
  sigemptyset(&none);
  MAKES(SYS_eventfd2, eventfd(3, EFD_NONBLOCK), 3, EFD_NONBLOCK), MAKES(SYS_eventfd, eventfd(4, 0), 4);
  MAKES(SYS_timerfd_create, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), CLOCK_MONOTONIC, TFD_CLOEXEC);
  MAKES(SYS_signalfd4, signalfd(-1, &none, SFD_NONBLOCK), -1, &none, 8L, SFD_NONBLOCK),
      MAKES(SYS_signalfd, signalfd(-1, &none, 0), -1, &none, 8L);
  MAKES(SYS_epoll_create, epoll_create(9), 9), MAKES(SYS_epoll_create1, epoll_create1(EPOLL_CLOEXEC), EPOLL_CLOEXEC);
  MAKES(SYS_inotify_init, inotify_init()), MAKES(SYS_inotify_init1, inotify_init1(IN_NONBLOCK), IN_NONBLOCK);
  MAKES(SYS_memfd_create, memfd_create("m", MFD_CLOEXEC), "m", MFD_CLOEXEC),
      MAKES(SYS_fanotify_init, fanotify_init(FAN_CLOEXEC, O_RDONLY), FAN_CLOEXEC, O_RDONLY);
  MAKES(SYS_socket, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void sockets(void) {
  struct iovec vector[2] = {{bytes, 3}, {bytes, 5}};
  struct msghdr message = {.msg_iov = vector, .msg_iovlen = 2};
  struct mmsghdr many[2] = {{.msg_hdr = {.msg_iov = vector, .msg_iovlen = 1}},
                            {.msg_hdr = {.msg_iov = vector + 1, .msg_iovlen = 1}}};
  struct sockaddr wrong = {.sa_family = AF_UNIX};
  int pair[2], server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), bind(server, &wrong, sizeof(sa_family_t)), listen(server, 2);
  BOTH(SYS_sendmsg, sendmsg(pair[0], &message, MSG_DONTWAIT), pair[0], &message, MSG_DONTWAIT);
  BOTH(SYS_recvmsg, recvmsg(pair[1], &message, MSG_TRUNC), pair[1], &message, MSG_TRUNC);
  BOTH(SYS_sendmmsg, sendmmsg(pair[0], many, 2, MSG_DONTWAIT), pair[0], many, 2, MSG_DONTWAIT);
  BOTH(SYS_recvmmsg, recvmmsg(pair[1], many, 2, MSG_TRUNC, NULL), pair[1], many, 2, MSG_TRUNC, NULL);
  BOTH(SYS_sendto, sendto(pair[0], bytes, 9, MSG_DONTWAIT, NULL, 0), pair[0], bytes, 9L, MSG_DONTWAIT, NULL, 0);
  BOTH(SYS_recvfrom, recvfrom(pair[1], bytes, 99, MSG_TRUNC, NULL, NULL), pair[1], bytes, 99L, MSG_TRUNC, NULL, NULL);
  BOTH(SYS_connect, connect(server, &wrong, 1), server, &wrong, 1);
  BOTH(SYS_accept, accept(server, NULL, NULL), server, NULL, NULL),
      BOTH(SYS_accept4, accept4(server, NULL, NULL, SOCK_CLOEXEC), server, NULL, NULL, SOCK_CLOEXEC);
  close(pair[0]), close(pair[1]), close(server);
}

static void memory(void) {
  char *at = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, in, 4096);
  BOTH(SYS_msync, msync(at, 4096, MS_ASYNC), at, 4096L, MS_ASYNC),
      BOTH(SYS_madvise, madvise(at, 4096, MADV_WILLNEED), at, 4096L, MADV_WILLNEED);
  BOTH(SYS_mmap, mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, in, 4096), at, 4096L, PROT_READ,
       MAP_PRIVATE | MAP_FIXED, in, 4096L);
  BOTH(SYS_mremap, mremap(at, 8192, 8192, 0), at, 8192L, 8192L, 0);
  BOTH(SYS_mprotect, mprotect(at, 8192, PROT_READ), at, 8192L, PROT_READ);
  TWICE(mmap(at, 8192, PROT_READ, MAP_PRIVATE | MAP_FIXED, in, 4096), SYS_munmap, munmap(at, 8192), at, 8192L);
}

static void waits(void) {
  struct pollfd one = {.fd = -1};
  struct timespec ms = {0, 1000000};
  struct timeval wide = {0, 1000};
  struct sembuf take = {0, -1, 0};
  struct epoll_event event;
  sigset_t none;
  siginfo_t child;
  int epoll = epoll_create1(0), id = semget(IPC_PRIVATE, 1, 0600), status;
  sigemptyset(&none);
  BOTH(SYS_poll, poll(&one, 1, 1), &one, 1L, 1),
      TWICE(ms.tv_nsec = 1000000, SYS_ppoll, ppoll(&one, 1, &ms, NULL), &one, 1L, &ms, NULL, 8L);
  TWICE(wide.tv_usec = 1000, SYS_select, select(3, NULL, NULL, NULL, &wide), 3, NULL, NULL, NULL, &wide);
  TWICE(ms.tv_nsec = 1000000, SYS_pselect6, pselect(4, NULL, NULL, NULL, &ms, NULL), 4, NULL, NULL, NULL, &ms, NULL);
  BOTH(SYS_epoll_wait, epoll_wait(epoll, &event, 1, 2), epoll, &event, 1, 2),
      BOTH(SYS_epoll_pwait, epoll_pwait(epoll, &event, 1, 3, NULL), epoll, &event, 1, 3, NULL, 8L);
  ms.tv_nsec = 1000000,
  BOTH(SYS_epoll_pwait2, epoll_pwait2(epoll, &event, 1, &ms, NULL), epoll, &event, 1, &ms, NULL, 8L);
  BOTH(SYS_nanosleep, nanosleep(&ms, NULL), &ms, NULL),
      BOTH(SYS_clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL), CLOCK_MONOTONIC, 0, &ms, NULL);
  BOTH(SYS_rt_sigtimedwait, sigtimedwait(&none, NULL, &ms), &none, NULL, &ms, 8L);
  BOTH(SYS_semtimedop, semtimedop(id, &take, 1, &ms), id, &take, 1L, &ms), semctl(id, 0, IPC_RMID);
  for (int i = 0; i < 2; i++) {
    pid_t pid = fork();  // whose number would differ in the rows
    if (pid == 0) usleep(3000), _exit(0);
    i ? syscall(SYS_waitid, P_ALL, 77, &child, WEXITED | WNOWAIT, NULL) : waitid(P_ALL, 77, &child, WEXITED | WNOWAIT);
    wait(&status), close(-1);
  }
  close(epoll);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  in = open("in", O_RDONLY), out = open("out", O_CREAT | O_RDWR, 0600), top = open(".", O_PATH);
  if (pipe(ends) || pipe(others)) return 3;
  begin_calls();
  moves(), reaches_the_disk(), names(), attributes(), opens(), special(), sockets(), memory(), waits();
  end_calls();
  return 0;
}
