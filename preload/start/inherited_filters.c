// SPDX-License-Identifier: Apache-2.0
#include "preload/start/inherited_filters.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/base/raw_syscall.h"

enum { kPieceBytes = 2048 };

static const char kLine[] = "\nSeccomp_filters:\t";

struct reader {
  size_t matched;  // matched characters of kLine; all of them: the number is being read
  uint32_t number;
};

// False: the number is complete. After a mismatch only a newline can begin a new match, since kLine has no other.
static bool take(struct reader *r, char c) {
  if (r->matched == sizeof kLine - 1) {
    if (c < '0' || c > '9') return false;
    r->number = r->number * 10 + (uint32_t)(c - '0');
  } else if (c == kLine[r->matched]) {
    r->matched++;
  } else {
    r->matched = c == '\n';
  }
  return true;
}

uint32_t inherited_filters(void) {
  struct reader r = {0, 0};
  char piece[kPieceBytes];
  bool more = true;
  long fd = raw_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  for (long bytes; more && (bytes = raw_syscall3(SYS_read, fd, (long)piece, sizeof piece)) > 0;)
    for (long i = 0; more && i < bytes; i++) more = take(&r, piece[i]);
  raw_syscall1(SYS_close, fd);
  return r.number;
}
