// SPDX-License-Identifier: Apache-2.0
// The memory that fuzzed calls are given, at fixed addresses so that two runs are alike:
//
//   4 pages to read and write | 1 that may not be touched | 1 to read | 1 of a file that is too short | nothing
//
// Each function makes an argument: mostly one that is right, sometimes one that is not.
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tests/preload/fuzz/dice.h"

enum { kPage = 4096, kGoodPages = 4, kGoodBytes = kGoodPages * kPage };

void memory_name_folder(void);  // once in the batch's folder
void memory_make(void);         // at the start of a batch
void memory_fill(void);         // before each call
uint64_t memory_hash(void);     // of what can be read and written
char *memory_good(void);

char *bad_pointer(struct dice *d);
char *path(struct dice *d);                // a name
char *text(struct dice *d);                // a short string, mostly good
void *room(struct dice *d, size_t bytes);  // for `bytes` that the call writes
const void *data(struct dice *d, size_t bytes);
size_t size(struct dice *d);
int fd(struct dice *d);
int dirfd_(struct dice *d);
long offset(struct dice *d);
long *offset_at(struct dice *d);
struct iovec *vector(struct dice *d, int *count);
struct msghdr *message(struct dice *d);
char **strings(struct dice *d);  // as for exec
