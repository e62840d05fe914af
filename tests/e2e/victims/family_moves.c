// SPDX-License-Identifier: Apache-2.0
// family_moves FILE OUT: bytes from descriptor to descriptor, room, advice and durability of files and mappings.
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "family.h"

static void copies(int in, int out) {
  off_t at = 100, to = 5000;
  int ends[2], more[2];
  char bytes[64];
  struct iovec vector = {bytes, sizeof bytes};
  pipe(ends), pipe(more);
  sendfile(out, in, NULL, 300), sendfile(out, in, &at, 50);
  copy_file_range(in, NULL, out, NULL, 1000, 0), copy_file_range(in, &at, out, &to, 70, 0);
  read(in, bytes, 4), write(out, "1234", 4);
  splice(in, NULL, ends[1], NULL, 33, 0), tee(ends[0], more[1], 20, 0), splice(ends[0], NULL, out, &to, 33, 0);
  vmsplice(ends[1], &vector, 1, 0);
  copy_file_range(in, NULL, 999, NULL, 10, 0);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  int in = open(arguments[1], O_RDONLY), out = open(arguments[2], O_CREAT | O_RDWR | O_TRUNC, 0644), waiting = 0;
  begin_calls();
  copies(in, out);
  fallocate(out, 0, 0, 65536), posix_fallocate(out, 0, 70000), posix_fallocate(999, 0, 1);
  posix_fadvise(in, 0, 4096, POSIX_FADV_SEQUENTIAL), posix_fadvise(999, 0, 4096, 0), readahead(in, 0, 8192);
  sync_file_range(out, 0, 4096, SYNC_FILE_RANGE_WRITE), syncfs(out), fsync(out);
  char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
  msync(map, 4096, MS_SYNC), madvise(map, 8192, MADV_RANDOM), posix_madvise(map, 4096, POSIX_MADV_NORMAL);
  map = mremap(map, 8192, 4096, MREMAP_MAYMOVE);
  munmap(map, 4096);
  flock(out, LOCK_EX), lockf(out, F_LOCK, 10), ioctl(in, FIONREAD, &waiting), ioctl(in, FIOCLEX);
  end_calls();
  return 0;
}
