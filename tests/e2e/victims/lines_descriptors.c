// SPDX-License-Identifier: Apache-2.0
// lines_descriptors FOLDER: the lines of hooks/descriptors.def. FOLDER has a file "in" of 25,000 bytes.
#define _GNU_SOURCE
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "lines.h"

int __dup2(int, int), __fcntl(int, int, ...), __pipe(int[2]), getpt(void);
int __connect(int, const struct sockaddr *, socklen_t);
ssize_t __send(int, const void *, size_t, int), __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
void *__sbrk(intptr_t);

static char bytes[4096];
static int in, out;

static bool closes(int fd) { return fd >= 0 && syscall(SYS_close, fd) == 0; }
static bool close_both(const int *fds) { return closes(fds[0]) && closes(fds[1]); }

static void copies(void) {
  int two[2];
  LINE(dup, 2, closes(dup(in)));
  LINE(dup2, 2, dup2(in, 50) == 50);
  LINE(__dup2, 2, __dup2(in, 50) == 50);
  LINE(dup3, 2, dup3(in, 50, O_CLOEXEC) == 50);
  LINE(fcntl, 2, fcntl(in, F_GETFL) >= 0);
  LINE(fcntl64, 2, fcntl64(in, F_GETFL) >= 0);
  LINE(__fcntl, 2, __fcntl(in, F_GETFL) >= 0);
  LINE(pipe, 2, pipe(two) == 0 && close_both(two));
  LINE(__pipe, 2, __pipe(two) == 0 && close_both(two));
  LINE(pipe2, 2, pipe2(two, O_CLOEXEC) == 0 && close_both(two));
  LINE(lockf, 2, lockf(out, F_TEST, 0) == 0);
  LINE(lockf64, 2, lockf64(out, F_TEST, 0) == 0);
  LINE(flock, 2, flock(in, LOCK_SH) == 0);
  LINE(ioctl, 2, ioctl(in, FIONREAD, bytes) == 0);
}

static void special(void) {
  sigset_t none;
  int master, slave, two[2], own = (int)syscall(SYS_pidfd_open, getpid(), 0);
  eventfd_t value;
  sigemptyset(&none);
  LINE(socket, 2, closes(socket(AF_UNIX, SOCK_STREAM, 0)));
  LINE(socketpair, 2, socketpair(AF_UNIX, SOCK_STREAM, 0, two) == 0 && close_both(two));
  LINE(timerfd_create, 2, closes(timerfd_create(CLOCK_MONOTONIC, 0)));
  LINE(signalfd, 2, closes(signalfd(-1, &none, 0)));
  LINE(epoll_create, 2, closes(epoll_create(1)));
  LINE(epoll_create1, 2, closes(epoll_create1(0)));
  int set = epoll_create1(0);
  struct epoll_event interest = {.events = EPOLLIN};
  LINE(epoll_ctl, 1, epoll_ctl(set, EPOLL_CTL_ADD, own, &interest) == 0);
  LINE(inotify_init, 2, closes(inotify_init()));
  LINE(inotify_init1, 2, closes(inotify_init1(0)));
  LINE(fanotify_init, 2, closes(fanotify_init(0, O_RDONLY)) || errno == EPERM);
  LINE(memfd_create, 2, closes(memfd_create("lines", 0)));
  LINE(pidfd_open, 2, closes(pidfd_open(getpid(), 0)));
  LINE(pidfd_getfd, 2, closes(pidfd_getfd(own, in, 0)) || errno == EPERM);
  LINE(posix_openpt, 2, closes(posix_openpt(O_RDWR | O_NOCTTY)));
  LINE(getpt, 2, closes(getpt()));
  LINE(openpty, 2, openpty(&master, &slave, NULL, NULL, NULL) == 0 && closes(master) && closes(slave));
  LINE(eventfd, 2, closes(eventfd(3, 0)));
  int event = eventfd(3, 0);
  LINE(eventfd_read, 1, eventfd_read(event, &value) == 0 && value == 3);
  LINE(eventfd_write, 2, eventfd_write(event, 1) == 0);
}

static void connections(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
  const struct sockaddr *address = (const struct sockaddr *)&name;
  int server = socket(AF_UNIX, SOCK_STREAM, 0), from[4];
  if (bind(server, address, sizeof name) || listen(server, 8)) fails("listen", 0);
  for (int i = 0; i < 4; i++) from[i] = socket(AF_UNIX, SOCK_STREAM, 0);
  LINE(connect, 2, connect(from[n], address, sizeof name) == 0);
  LINE(__connect, 2, __connect(from[2 + n], address, sizeof name) == 0);
  LINE(accept, 2, closes(accept(server, NULL, NULL)));
  LINE(accept4, 2, closes(accept4(server, NULL, NULL, SOCK_CLOEXEC)));
}

static void messages(void) {
  struct iovec vector = {bytes, 10};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  struct mmsghdr many[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
  int two[2];
  socketpair(AF_UNIX, SOCK_DGRAM, 0, two);
  LINE(send, 2, send(two[0], bytes, 10, 0) == 10);
  LINE(__send, 2, __send(two[0], bytes, 10, 0) == 10);
  LINE(recv, 2, recv(two[1], bytes, 99, 0) == 10);
  LINE(__recv_chk, 2, __recv_chk(two[1], bytes, 99, sizeof bytes, 0) == 10);
  LINE(sendto, 4, sendto(two[0], bytes, 10, 0, NULL, 0) == 10);
  LINE(recvfrom, 2, recvfrom(two[1], bytes, 99, 0, NULL, NULL) == 10);
  LINE(__recvfrom_chk, 2, __recvfrom_chk(two[1], bytes, 99, sizeof bytes, 0, NULL, NULL) == 10);
  LINE(sendmsg, 2, sendmsg(two[0], &message, 0) == 10);
  LINE(recvmsg, 2, recvmsg(two[1], &message, 0) == 10);
  LINE(sendmmsg, 2, sendmmsg(two[0], many, 2, 0) == 2);
  LINE(recvmmsg, 2, recvmmsg(two[1], many, 2, 0, NULL) == 2);
}

static void memory(void) {
  enum { kBytes = 8192, kRead = PROT_READ };
  char *map = mmap(NULL, kBytes, kRead, MAP_PRIVATE, in, 0);
  LINE(mmap, 2, mmap(map, kBytes, kRead, MAP_PRIVATE | MAP_FIXED, in, 0) == map);
  LINE(mmap64, 2, mmap64(map, kBytes, kRead, MAP_PRIVATE | MAP_FIXED, in, 0) == map);
  LINE(madvise, 2, madvise(map, kBytes, MADV_WILLNEED) == 0);
  LINE(posix_madvise, 2, posix_madvise(map, kBytes, POSIX_MADV_RANDOM) == 0);
  LINE(mremap, 2, mremap(map, kBytes, kBytes, 0) == map);
  LINE(mprotect, 2, mprotect(map, kBytes, kRead) == 0);
  LINE(pkey_mprotect, 2, pkey_mprotect(map, kBytes, kRead, -1) == 0);
  LINE(munmap, 2, munmap(map, kBytes) == 0);
  char *end = (char *)syscall(SYS_brk, 0);
  LINE(brk, 2, brk(end) == 0);
  LINE(sbrk, 2, sbrk(0) == end);
  LINE(__sbrk, 2, __sbrk(0) == end);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  in = open("in", O_RDONLY), out = open("out", O_CREAT | O_RDWR, 0600);
  copies(), special(), connections(), messages(), memory();
  return 0;
}
