// SPDX-License-Identifier: Apache-2.0
// The yard holds growing blocks. Each has its own mapping, at the beginning of a place: 64 MiB or more of addresses that no other block uses. So it
// grows without a copy. All functions require the heap's lock.
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
  uint32_t next, end;  // pages of the window that belong to no place yet: [next, end)
  uint32_t count;
  struct yard_place places[kYardPlaces];
};

void yard_open(struct yard *yard, uint32_t first_segment, uint32_t end_segment);

// The first page of an unused place for a block of `pages` pages, with room to grow. kNoPage: none.
uint32_t yard_take(struct yard *yard, uint32_t pages);

// Makes a block of `pages` pages at a place where `have` pages are mapped. False: no memory; the mapping is unchanged.
bool yard_begin(struct yard *yard, uint32_t page, uint32_t have, uint32_t pages);

// Makes the place unused again and unmaps its `mapped` pages.
void yard_give_up(struct yard *yard, uint32_t page, uint32_t mapped);

bool yard_resize(struct yard *yard, uint32_t page, uint32_t pages);
void yard_free(struct yard *yard, uint32_t page);

#pragma GCC visibility pop
