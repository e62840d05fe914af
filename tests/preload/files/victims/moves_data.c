// SPDX-License-Identifier: Apache-2.0
// moves_data FILE: every symbol that reads, writes or positions, once each, with lengths and offsets that tell them
// apart, as do the buffers' places in their page.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __read(int, void *, size_t), __read_chk(int, void *, size_t, size_t), __write(int, const void *, size_t);
ssize_t __pread64(int, void *, size_t, off_t), __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off_t, size_t), __pwrite64(int, const void *, size_t, off_t);
off_t __lseek(int, off_t, int);

int main(int count, char **arguments) {
  static char page[4096] __attribute__((aligned(4096)));
  char *room = page + 100, *text = page + 200;
  const size_t room_bytes = 64;
  for (int i = 0; i < 36; i++) text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[i];
  struct iovec two[] = {{text, 3}, {text + 10, 4}}, in[] = {{room, 5}, {room + 5, 6}, {room + 20, 0}};
  int fd = count == 2 ? open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
  write(fd, text, 36), __write(fd, text, 1), writev(fd, two, 2);
  pwrite(fd, text, 2, 100), pwrite64(fd, text, 3, 101), __pwrite64(fd, text, 4, 102);
  pwritev(fd, two, 2, 103), pwritev64(fd, two, 1, 104), pwritev2(fd, two, 2, 105, RWF_DSYNC),
      pwritev64v2(fd, two, 2, -1, 0);
  lseek(fd, 3, SEEK_SET), lseek64(fd, -1, SEEK_CUR), __lseek(fd, 1, SEEK_SET), lseek(fd, -1, SEEK_SET);
  read(fd, room, 7), __read(fd, room, 8), __read_chk(fd, room, 9, room_bytes), readv(fd, in, 3);
  pread(fd, room, 11, 90), pread64(fd, room, 12, 91), __pread64(fd, room, 13, 92);
  __pread_chk(fd, room, 14, 93, room_bytes), __pread64_chk(fd, room, 15, 94, room_bytes);
  preadv(fd, in, 2, 95), preadv64(fd, in, 2, 96), preadv2(fd, in, 2, 97, 0), preadv64v2(fd, in, 1, -1, RWF_HIPRI);
  fsync(fd), fdatasync(fd), ftruncate(fd, 50), ftruncate64(fd, 40);
  return close(fd);
}
