// SPDX-License-Identifier: Apache-2.0
// Growing blocks, each with a mapping of its own at the begin of a place of 64 MiB or more in which nothing else is: it grows there
// without a copy. Under the heap's lock.
#pragma once

#include "preload/placement/window.h"

#pragma GCC visibility push(hidden)

enum { kYardPlaces = 256 };

struct yard_place {
  uint32_t page, room;  // room: pages, a power of two
  bool taken;
  struct run run;
};

struct yard {
  uint32_t next, end;  // pages
  uint32_t count;
  struct yard_place places[kYardPlaces];
};

void yard_open(struct yard *yard, uint32_t first_segment, uint32_t end_segment);

// An unused place for a block of so many pages, and for it to grow. kNoPage: none.
uint32_t yard_take(struct yard *yard, uint32_t pages);

// `have` pages are mapped there: makes it a block of `pages`. False: no memory; they are as they were.
bool yard_begin(struct yard *yard, uint32_t page, uint32_t have, uint32_t pages);

// The place is unused again; `mapped` pages of it are unmapped.
void yard_give_up(struct yard *yard, uint32_t page, uint32_t mapped);

bool yard_resize(struct yard *yard, uint32_t page, uint32_t pages);
void yard_free(struct yard *yard, uint32_t page);

#pragma GCC visibility pop
