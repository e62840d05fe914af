// SPDX-License-Identifier: Apache-2.0
// The yard holds growing blocks. Each has its own mapping, at the beginning of a place: 64 MiB or more of addresses that no other block uses. So it
// grows without a copy. A freed one can stay mapped for the next block of its place (kept.c). All functions require the heap's lock.
#pragma once

#include "preload/placement/window.h"

#pragma GCC visibility push(hidden)

enum { kYardPlaces = 256 };

struct yard_place {
  uint32_t page, room;  // room: pages, a power of two
  bool taken;           // by a block, or by what one has left mapped
  bool refused;         // the kernel refused that the mapping grows
  uint32_t leaver;      // lock_of_thread() of the thread that unmaps the mapping without the heap's lock; 0: none
  struct run run;
};

struct yard {
  uint32_t next, end;  // pages of the window that belong to no place yet: [next, end)
  uint32_t least_room;
  uint32_t count;
  uint32_t kept;  // places with a mapping that no block uses
  struct yard_place places[kYardPlaces];
};

void yard_open(struct yard *yard, uint32_t first_segment, uint32_t end_segment);

// The first page of an unused place for a block of `pages` pages, with room to grow. kNoPage: none.
uint32_t yard_take(struct yard *yard, uint32_t pages);

// Makes a block of `pages` pages at a place where `have` pages are mapped. False: no memory; the mapping is unchanged.
bool yard_begin(struct yard *yard, uint32_t page, uint32_t have, uint32_t pages);

// Makes the place unused again and unmaps its `mapped` pages.
void yard_give_up(struct yard *yard, uint32_t page, uint32_t mapped);

// Maps pages behind a block, or a kept mapping, so that there are `pages`. False: no room, or no memory.
bool yard_widen(struct yard *yard, uint32_t page, uint32_t pages);

// The block is not findable from then on. Its place stays taken while thread `leaver` unmaps it, up to yard_give_up().
void yard_leave(struct yard *yard, uint32_t page, uint32_t leaver);

// In a forked child: unmaps what other threads were unmapping, which the child does not have. Its own thread goes on with that.
void yard_end_leaving(struct yard *yard, uint32_t own);

// A freed block's mapping stays. Worth it, if the kernel lets it grow: yard_may_keep.
bool yard_may_keep(struct yard *yard, uint32_t page);
void yard_keep(struct yard *yard, uint32_t page);

// A place with a kept mapping of at most `most` pages and room for a block of `pages` pages to grow. kNoPage: none.
uint32_t yard_find_kept(const struct yard *yard, uint32_t pages, uint32_t most);

// The mapping is a kept one no more. yard_reuse: it is that of a block of `pages` pages, which are mapped.
void yard_take_kept(struct yard *yard, uint32_t page);
void yard_reuse(struct yard *yard, uint32_t page, uint32_t pages);

#pragma GCC visibility pop
