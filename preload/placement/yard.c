// SPDX-License-Identifier: Apache-2.0
#include "preload/placement/yard.h"

#include "preload/placement/pages.h"

enum {
  kGrowth = 8,  // a place has room for at least eight times the block's new size when it arrives
  kMostLeastRoom = 32 * kSegmentPages,
};

static struct yard_place *place_at(struct yard *yard, uint32_t page) {
  for (uint32_t i = 0; i < yard->count; i++)
    if (yard->places[i].page == page) return &yard->places[i];
  return NULL;
}

void yard_open(struct yard *yard, uint32_t first_segment, uint32_t end_segment) {
  yard->next = first_segment * kSegmentPages;
  yard->end = end_segment * kSegmentPages;
  // All places fit in half of the yard. A block that outgrows its place is copied, however large it is: 2 GiB of addresses where there are few rules.
  yard->least_room = kSegmentPages;
  while (yard->least_room < kMostLeastRoom && yard->least_room <= (yard->end - yard->next) / (4 * kYardPlaces))
    yard->least_room *= 2;
}

static struct yard_place *add_place(struct yard *yard, uint32_t room) {
  if (yard->count == kYardPlaces || room > yard->end - yard->next) return NULL;
  struct yard_place *place = &yard->places[yard->count++];
  place->page = yard->next;
  place->room = room;
  yard->next += room;
  return place;
}

static uint64_t room_for(const struct yard *yard, uint32_t pages) {
  uint64_t room = yard->least_room;
  while (room < (uint64_t)pages * kGrowth) room *= 2;
  return room;
}

uint32_t yard_take(struct yard *yard, uint32_t pages) {
  uint64_t room = room_for(yard, pages);
  if (room > yard->end) return kNoPage;
  struct yard_place *place = NULL;
  for (uint32_t i = 0; i < yard->count && !place; i++)
    if (!yard->places[i].taken && yard->places[i].room >= room) place = &yard->places[i];
  if (!place) place = add_place(yard, (uint32_t)room);
  if (!place) return kNoPage;
  place->taken = true;
  return place->page;
}

bool yard_begin(struct yard *yard, uint32_t page, uint32_t have, uint32_t pages) {
  struct yard_place *place = place_at(yard, page);
  if (have < pages && !pages_resize(address_of(page), (size_t)have * kPageBytes, (size_t)pages * kPageBytes))
    return false;
  place->refused = false;
  place->run = (struct run){.room = place->room, .pages = pages, .touched = pages, .state = kGrown};
  __atomic_store_n(&window_tables[page / kSegmentPages], (uintptr_t)&place->run | 1, __ATOMIC_RELEASE);
  return true;
}

static void hide(uint32_t page) { __atomic_store_n(&window_tables[page / kSegmentPages], 0, __ATOMIC_RELEASE); }

void yard_give_up(struct yard *yard, uint32_t page, uint32_t mapped) {
  struct yard_place *place = place_at(yard, page);
  hide(page);
  if (mapped) pages_unmap(address_of(page), (size_t)mapped * kPageBytes);
  place->taken = false;
  place->leaver = 0;
}

void yard_leave(struct yard *yard, uint32_t page, uint32_t leaver) {
  hide(page);
  place_at(yard, page)->leaver = leaver;
}

void yard_end_leaving(struct yard *yard, uint32_t own) {
  for (uint32_t i = 0; i < yard->count; i++) {
    const struct yard_place *place = &yard->places[i];
    if (!place->leaver || place->leaver == own) continue;
    pages_unmap_in_child(address_of(place->page), (size_t)place->run.touched * kPageBytes);
    yard_give_up(yard, place->page, 0);
  }
}

bool yard_widen(struct yard *yard, uint32_t page, uint32_t pages) {
  struct yard_place *place = place_at(yard, page);
  size_t mapped = (size_t)place->run.touched * kPageBytes;
  if (pages > place->room) return false;
  place->refused = !pages_resize(address_of(page), mapped, (size_t)pages * kPageBytes);
  if (!place->refused) place->run.touched = pages;
  return !place->refused;
}

bool yard_may_keep(struct yard *yard, uint32_t page) { return !place_at(yard, page)->refused; }

void yard_keep(struct yard *yard, uint32_t page) {
  place_at(yard, page)->run.state = kKept;
  yard->kept++;
}

uint32_t yard_find_kept(const struct yard *yard, uint32_t pages, uint32_t most) {
  if (!yard->kept) return kNoPage;
  uint64_t room = room_for(yard, pages);
  for (uint32_t i = 0; i < yard->count; i++) {
    const struct yard_place *place = &yard->places[i];
    if (place->taken && place->run.state == kKept && place->room >= room && place->run.touched <= most)
      return place->page;
  }
  return kNoPage;
}

void yard_take_kept(struct yard *yard, uint32_t page) {
  place_at(yard, page)->run.state = kLeaving;
  yard->kept--;
}

void yard_reuse(struct yard *yard, uint32_t page, uint32_t pages) {
  struct run *run = &place_at(yard, page)->run;
  run->pages = pages;
  __atomic_store_n(&run->state, kGrown, __ATOMIC_RELAXED);
}
