// SPDX-License-Identifier: Apache-2.0
// family_sockets FILE: sockets, messages with a descriptor in them, and descriptors that are not files.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "family.h"

// Sends `fd` over the pair and reads four bytes of what arrived.
static void pass_descriptor(const int *pair, int fd) {
  char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0}, bytes[4];
  struct iovec vector = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *part = CMSG_FIRSTHDR(&message);
  *part = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(part), &fd, sizeof fd);
  sendmsg(pair[0], &message, 0);
  recvmsg(pair[1], &message, 0);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  pread(fd, bytes, 4, 8);
}

static void exchange(const int *pair) {
  char bytes[64];
  struct iovec vector[2] = {{bytes, 3}, {bytes, 5}};
  struct mmsghdr many[2] = {{.msg_hdr = {.msg_iov = vector, .msg_iovlen = 1}},
                            {.msg_hdr = {.msg_iov = vector + 1, .msg_iovlen = 1}}};
  send(pair[0], "12345", 5, 0), recv(pair[1], bytes, 64, 0), recv(pair[1], bytes, 64, MSG_DONTWAIT);
  sendto(pair[0], "123", 3, 0, NULL, 0), recvfrom(pair[1], bytes, 64, 0, NULL, NULL);
  sendmmsg(pair[0], many, 2, 0), recvmmsg(pair[1], many, 2, 0, NULL);
  write(pair[1], "12", 2), read(pair[0], bytes, 64);
}

static void meet(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, 100, "mlrun-test-%d", getpid());
  int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(server, (struct sockaddr *)&name, sizeof name), listen(server, 2);
  connect(client, (struct sockaddr *)&name, sizeof name);
  int first = accept(server, NULL, NULL);
  connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name);
  int second = accept4(server, NULL, NULL, SOCK_CLOEXEC);
  send(client, "1", 1, 0), write(first, "12", 2), write(second, "123", 3);
}

int main(int count, char **arguments) {
  int pair[2], fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  sigset_t none;
  eventfd_t value;
  sigemptyset(&none);
  begin_calls();
  socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
  exchange(pair);
  pass_descriptor(pair, fd);
  meet();
  int event = eventfd(1, 0), other = eventfd(2, 0);
  eventfd_read(event, &value), eventfd_write(other, 7), read(other, &value, 8);
  read(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), &value, 8);
  read(signalfd(-1, &none, SFD_NONBLOCK), &value, 8), read(inotify_init1(IN_NONBLOCK), &value, 8);
  write(memfd_create("some", 0), "1234", 4), epoll_create1(0), epoll_create(5);
  int shared = shm_open("/mlrun-test-family", O_CREAT | O_RDWR, 0600);
  ftruncate(shared, 4096), write(shared, "123", 3), shm_unlink("/mlrun-test-family");
  end_calls();
  return 0;
}
