// SPDX-License-Identifier: Apache-2.0
// lines_data FOLDER: the lines of hooks/data.def. FOLDER has a file "in" of 25,000 bytes.
#define _GNU_SOURCE
#include <aio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "lines.h"

ssize_t __read(int, void *, size_t), __pread64(int, void *, size_t, off_t), __write(int, const void *, size_t);
ssize_t __pwrite64(int, const void *, size_t, off_t), __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t), __pread64_chk(int, void *, size_t, off_t, size_t);
off_t __lseek(int, off_t, int), llseek(int, off_t, int);
__asm__(".symver llseek, llseek@GLIBC_2.2.5");  // programs may no longer link it; old ones call it

static char bytes[4096];
static struct iovec vector[2] = {{bytes, 30}, {bytes + 100, 12}};
static int in, out, ends[2], others[2];

static void reads_and_writes(void) {
  LINE(read, 2, read(in, bytes, 10) == 10);
  LINE(__read, 2, __read(in, bytes, 10) == 10);
  LINE(__read_chk, 2, __read_chk(in, bytes, 10, sizeof bytes) == 10);
  LINE(pread, 2, pread(in, bytes, 10, 7) == 10);
  LINE(pread64, 2, pread64(in, bytes, 10, 7) == 10);
  LINE(__pread64, 2, __pread64(in, bytes, 10, 7) == 10);
  LINE(__pread_chk, 2, __pread_chk(in, bytes, 10, 7, sizeof bytes) == 10);
  LINE(__pread64_chk, 2, __pread64_chk(in, bytes, 10, 7, sizeof bytes) == 10);
  LINE(readv, 2, readv(in, vector, 2) == 42);
  LINE(preadv, 2, preadv(in, vector, 2, 9) == 42);
  LINE(preadv64, 2, preadv64(in, vector, 2, 9) == 42);
  LINE(preadv2, 2, preadv2(in, vector, 2, 9, 0) == 42);
  LINE(preadv64v2, 2, preadv64v2(in, vector, 2, 9, 0) == 42);
  LINE(write, 2, write(out, bytes, 10) == 10);
  LINE(__write, 2, __write(out, bytes, 10) == 10);
  LINE(pwrite, 2, pwrite(out, bytes, 10, 7) == 10);
  LINE(pwrite64, 2, pwrite64(out, bytes, 10, 7) == 10);
  LINE(__pwrite64, 2, __pwrite64(out, bytes, 10, 7) == 10);
  LINE(writev, 2, writev(out, vector, 2) == 42);
  LINE(pwritev, 2, pwritev(out, vector, 2, 9) == 42);
  LINE(pwritev64, 2, pwritev64(out, vector, 2, 9) == 42);
  LINE(pwritev2, 2, pwritev2(out, vector, 2, 9, 0) == 42);
  LINE(pwritev64v2, 2, pwritev64v2(out, vector, 2, 9, 0) == 42);
}

static void copies(void) {
  off_t at = 100, to = 200;
  LINE(sendfile, 2, sendfile(out, in, &at, 33) == 33);
  LINE(sendfile64, 2, sendfile64(out, in, &at, 33) == 33);
  LINE(copy_file_range, 2, copy_file_range(in, &at, out, &to, 44, 0) == 44);
  LINE(splice, 2, splice(in, &at, ends[1], NULL, 55, 0) == 55);
  LINE(tee, 2, tee(ends[0], others[1], 21, SPLICE_F_NONBLOCK) == 21);
  LINE(vmsplice, 2, vmsplice(ends[1], vector, 2, 0) == 42);
}

static void positions(void) {
  char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
  LINE(lseek, 2, lseek(in, 7, SEEK_SET) == 7);
  LINE(lseek64, 2, lseek64(in, 7, SEEK_SET) == 7);
  LINE(__lseek, 2, __lseek(in, 7, SEEK_SET) == 7);
  LINE(llseek, 2, llseek(in, 7, SEEK_SET) == 7);
  LINE(fsync, 2, fsync(out) == 0);
  LINE(fdatasync, 2, fdatasync(out) == 0);
  LINE(sync, 1, (sync(), true));
  LINE(syncfs, 1, syncfs(out) == 0);
  LINE(sync_file_range, 2, sync_file_range(out, 0, 100, SYNC_FILE_RANGE_WRITE) == 0);
  LINE(msync, 2, msync(map, 4096, MS_ASYNC) == 0);
  LINE(truncate, 2, truncate("out", 9000) == 0);
  LINE(truncate64, 2, truncate64("out", 9000) == 0);
  LINE(fallocate, 2, fallocate(out, 0, 0, 9100) == 0);
  LINE(fallocate64, 2, fallocate64(out, 0, 0, 9100) == 0);
  LINE(posix_fallocate, 2, posix_fallocate(out, 0, 9200) == 0);
  LINE(posix_fallocate64, 2, posix_fallocate64(out, 0, 9200) == 0);
  LINE(posix_fadvise, 2, posix_fadvise(in, 0, 0, POSIX_FADV_RANDOM) == 0);
  LINE(posix_fadvise64, 2, posix_fadvise64(in, 0, 0, POSIX_FADV_RANDOM) == 0);
  LINE(readahead, 2, readahead(in, 0, 4096) == 0);
  munmap(map, 8192);
}

static bool is_done(struct aiocb *request) {
  while (aio_error(request) == EINPROGRESS) syscall(SYS_sched_yield);
  return aio_error(request) == 0;
}

// Each asynchronous line takes its results outside of itself: they are rows of their own names.
static void asynchronous(void) {
  static struct aiocb reads[2], writes[2], syncs[2], listed[2];
  struct aiocb *list[] = {&listed[0], &listed[1]};
  for (int i = 0; i < 2; i++) {
    reads[i] = (struct aiocb){.aio_fildes = in, .aio_buf = bytes, .aio_nbytes = 10};
    writes[i] = (struct aiocb){.aio_fildes = out, .aio_buf = bytes, .aio_nbytes = 20};
    syncs[i] = (struct aiocb){.aio_fildes = out};
  }
  struct aiocb64 *wide_reads = (struct aiocb64 *)reads, *wide_writes = (struct aiocb64 *)writes;
  struct aiocb64 *wide_syncs = (struct aiocb64 *)syncs;
  LINE(aio_read, 2, aio_read(&reads[n]) == 0);
  LINE_NAMED("aio_read_done", 2, is_done(&reads[n]) && aio_return(&reads[n]) == 10);
  LINE(aio_read64, 2, aio_read64(&wide_reads[n]) == 0);
  for (int n = 0; n < 2; n++) is_done(&reads[n]), aio_return64(&wide_reads[n]);
  LINE(aio_write, 2, aio_write(&writes[n]) == 0);
  LINE_NAMED("aio_write_done", 2, is_done(&writes[n]) && aio_return(&writes[n]) == 20);
  LINE(aio_write64, 2, aio_write64(&wide_writes[n]) == 0);
  for (int n = 0; n < 2; n++) is_done(&writes[n]), aio_return64(&wide_writes[n]);
  LINE(aio_fsync, 2, aio_fsync(O_SYNC, &syncs[n]) == 0);
  LINE(aio_return, 2, is_done(&syncs[n]) && aio_return(&syncs[n]) == 0);
  LINE(aio_fsync64, 2, aio_fsync64(O_SYNC, &wide_syncs[n]) == 0);
  LINE(aio_return64, 2, is_done(&syncs[n]) && aio_return64(&wide_syncs[n]) == 0);
  for (int i = 0; i < 2; i++) {
    listed[i] = i ? writes[0] : reads[0];
    listed[i].aio_lio_opcode = i ? LIO_WRITE : LIO_READ;
  }
  LINE(lio_listio, 1, lio_listio(LIO_WAIT, list, 2, NULL) == 0);
  for (int i = 0; i < 2; i++) aio_return(&listed[i]);
  LINE(lio_listio64, 1, lio_listio64(LIO_WAIT, (struct aiocb64 **)list, 2, NULL) == 0);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  in = open("in", O_RDONLY), out = open("out", O_CREAT | O_RDWR, 0600);
  if (pipe(ends) || pipe(others)) return 2;
  reads_and_writes(), copies(), positions(), asynchronous();
  return 0;
}
