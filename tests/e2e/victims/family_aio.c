// SPDX-License-Identifier: Apache-2.0
// family_aio FILE OUT: asynchronous reads and writes, a list of them, and one that fails.
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>

#include "family.h"

static ssize_t result_of(struct aiocb *request) {
  const struct aiocb *const list[] = {request};
  while (aio_error(request) == EINPROGRESS) aio_suspend(list, 1, NULL);
  return aio_return(request);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  static char bytes[4096];
  int in = open(arguments[1], O_RDONLY), out = open(arguments[2], O_CREAT | O_RDWR, 0644);
  struct aiocb reads = {.aio_fildes = in, .aio_buf = bytes, .aio_nbytes = 1000, .aio_offset = 50};
  struct aiocb writes = {.aio_fildes = out, .aio_buf = bytes, .aio_nbytes = 700, .aio_offset = 10};
  struct aiocb fails = {.aio_fildes = 999, .aio_buf = bytes, .aio_nbytes = 1};
  struct aiocb first = reads, second = writes, syncs = {.aio_fildes = out};
  struct aiocb *list[] = {&first, NULL, &second};
  first.aio_lio_opcode = LIO_READ, second.aio_lio_opcode = LIO_WRITE;
  aio_read(&reads);
  ssize_t sum = result_of(&reads);
  aio_write(&writes), sum += result_of(&writes);
  if (aio_read(&fails) == 0) result_of(&fails);
  lio_listio(LIO_WAIT, list, 3, NULL);
  sum += result_of(&first) + result_of(&second);
  aio_fsync(O_SYNC, &syncs), result_of(&syncs);
  printf("%zd\n", sum);
  return 0;
}
