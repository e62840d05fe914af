// SPDX-License-Identifier: Apache-2.0
// large_numbers FILE: lengths, offsets and results that do not fit in 32 bits, or in 56.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 2) return 2;
  const size_t size = 6ul << 30;
  int fd = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ftruncate(fd, (off_t)size)) return 1;
  char *at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return 1;
  madvise(at, size, MADV_SEQUENTIAL);
  posix_madvise(at, size, POSIX_MADV_NORMAL);
  msync(at, size, MS_ASYNC);
  syscall(SYS_msync, at, size, MS_ASYNC);
  posix_fadvise(fd, 5l << 30, 1l << 33, POSIX_FADV_RANDOM);
  sync_file_range(fd, 5l << 30, 1l << 34, SYNC_FILE_RANGE_WRITE);
  readahead(fd, 5l << 30, 4096);
  munmap(at, size);
  char zeros[16];
  int memory = open("/proc/self/mem", O_RDWR);  // whose offsets are addresses: any number will do
  lseek(memory, INT64_MAX, SEEK_SET);
  lseek(memory, 1l << 55, SEEK_SET);
  lseek(memory, (1l << 56) + 12345, SEEK_SET);
  lseek(memory, -(1l << 60), SEEK_SET);
  lseek(memory, 100, SEEK_SET);
  pread(memory, zeros, sizeof zeros, (1l << 56) + 7);
  return 0;
}
