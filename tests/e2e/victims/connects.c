// SPDX-License-Identifier: Apache-2.0
// connects FOLDER: connections within the process and between processes, by TCP, IPv6 and AF_UNIX. Prints for each call "FUNC FD INODE INODE
// ADDRESS": the socket and the one at the other end (0: not of this trace), by fstat.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void fails(const char *what) {
  perror(what);
  exit(1);
}

static unsigned long inode(int fd) {
  struct stat status;
  if (fstat(fd, &status)) fails("fstat");
  return status.st_ino;
}

struct place {
  union {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
    char room[128];
  };
  socklen_t bytes;
};

static int listener(struct place *place) {
  int fd = socket(place->any.sa_family, SOCK_STREAM, 0);
  if (fd < 0 || bind(fd, &place->any, place->bytes) || listen(fd, 8)) return -1;
  place->bytes = sizeof place->room;
  if (getsockname(fd, &place->any, &place->bytes)) fails("getsockname");
  return fd;
}

static void tells(const char *func, int fd, unsigned long other, const char *address) {
  printf("%s %d %lu %lu %s\n", func, fd, inode(fd), other, address);
}

static const char *text_of(const struct place *place) {
  static char text[2][160], host[64];
  static int which;
  char *at = text[which ^= 1];
  int family = place->any.sa_family;
  if (family == AF_UNIX)
    snprintf(at, 160, "%s%s", place->un.sun_path[0] ? "" : "@",
             place->un.sun_path[0] ? place->un.sun_path : place->un.sun_path + 1);
  else if (family == AF_INET)
    snprintf(at, 160, "%s:%d", inet_ntop(family, &place->in.sin_addr, host, sizeof host), ntohs(place->in.sin_port));
  else
    snprintf(at, 160, "[%s]:%d", inet_ntop(family, &place->in6.sin6_addr, host, sizeof host),
             ntohs(place->in6.sin6_port));
  return at;
}

static const char *own_address(int fd, const struct place *server) {
  struct place place = {.bytes = sizeof place.room};
  if (server->any.sa_family == AF_UNIX) return text_of(server);  // the connecting one has no name of its own
  if (getsockname(fd, &place.any, &place.bytes)) fails("getsockname");
  return text_of(&place);
}

// Three connections after each other, of which the second does not block.
static void within(struct place *place) {
  int server = listener(place);
  if (server < 0) return;
  for (int i = 0; i < 3; i++) {
    int client = socket(place->any.sa_family, SOCK_STREAM | (i == 1 ? SOCK_NONBLOCK : 0), 0);
    if (connect(client, &place->any, place->bytes) && errno != EINPROGRESS) fails("connect");
    int accepted = i == 2 ? accept4(server, NULL, NULL, SOCK_CLOEXEC) : accept(server, NULL, NULL);
    tells("connect", client, inode(accepted), text_of(place));
    tells(i == 2 ? "accept4" : "accept", accepted, inode(client), own_address(client, place));
    close(client), close(accepted);
  }
}

// Children connect, one after the other; the parent accepts later.
static void between(struct place *place) {
  int server = listener(place), ends[2];
  if (server < 0 || pipe(ends)) fails("a listener");
  unsigned long inodes[3];
  pid_t children[3];
  for (int i = 0; i < 3; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      int client = socket(place->any.sa_family, SOCK_STREAM, 0);
      if (connect(client, &place->any, place->bytes)) _exit(1);
      unsigned long own = inode(client);
      write(ends[1], &own, sizeof own);
      char byte;
      read(client, &byte, 1);
      _exit(0);
    }
    read(ends[0], &inodes[i], sizeof inodes[i]);
  }
  for (int i = 0; i < 3; i++) {
    int accepted = accept(server, NULL, NULL);
    struct place other = {.bytes = sizeof other.room};
    getpeername(accepted, &other.any, &other.bytes);
    tells("accept", accepted, inodes[i], text_of(place->any.sa_family == AF_UNIX ? place : &other));
    write(accepted, "x", 1);
    waitpid(children[i], NULL, 0);
  }
}

static void refused(void) {
  struct place place = {.in = {AF_INET, htons(1), {htonl(INADDR_LOOPBACK)}, {0}}, .bytes = sizeof place.in};
  connect(socket(AF_INET, SOCK_STREAM, 0), &place.any, place.bytes);
}

static void pairs_and_sets(void) {
  int pair[2], set = epoll_create1(0);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) fails("socketpair");
  tells("socketpair", pair[0], inode(pair[1]), "-");
  struct epoll_event event = {.events = EPOLLIN};
  struct pollfd polled[2] = {{pair[0], POLLIN, 0}, {pair[1], POLLIN, 0}}, none = {-1, POLLIN, 0};
  struct timespec time = {0, 5000000};
  epoll_ctl(set, EPOLL_CTL_ADD, pair[0], &event), epoll_ctl(set, EPOLL_CTL_MOD, pair[0], &event);
  epoll_ctl(set, EPOLL_CTL_DEL, pair[0], NULL), epoll_ctl(set, EPOLL_CTL_DEL, pair[0], NULL);
  poll(polled, 1, 5), ppoll(polled + 1, 1, &time, NULL), poll(polled, 2, 5), poll(&none, 1, 5);
  printf("set %d %lu %d %d\n", set, inode(set), pair[0], pair[1]);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  struct place in = {.in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, .bytes = sizeof in.in};
  struct place in6 = {.in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}, .bytes = sizeof in6.in6};
  struct place un = {.un = {AF_UNIX, "socket"}, .bytes = sizeof un.un}, abstract = {.un = {.sun_family = AF_UNIX}};
  struct place again = in, other = {.un = {AF_UNIX, "other"}, .bytes = sizeof other.un};
  snprintf(abstract.un.sun_path + 1, 100, "mlrun-connects-%d", getpid());
  abstract.bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract.un.sun_path + 1));
  within(&in), within(&in6), within(&un), within(&abstract);
  between(&again), between(&other);
  refused(), pairs_and_sets();
  return 0;
}
