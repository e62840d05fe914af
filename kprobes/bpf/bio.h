// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Bios on their way to a request. A note records which thread queued a bio, or had dirtied the pages that it writes, and
// for which file operation and file. It follows the bio through the block layer.
//
//   block_bio_queue     creates the note. Time in the queue begins here: after this event a bio may wait for a request
//   block_split         cuts off the front of a bio that is too large, as a new bio, which has no block_bio_queue
//   block_bio_remap     a stacked device (dm, md) sends a new bio to the device below it
//   block_bio_complete  deletes the note
#pragma once

#include "kprobes/bpf/block_bits.h"
#include "kprobes/bpf/dirty.h"
#include "kprobes/bpf/thread_state.h"
#include "kprobes/bpf/used_devices.h"

const volatile bool with_waits = true;

enum { kSectorShift = 9 };
enum { kByAKernelThread = MLRUN_BLOCK_WRITEBACK | MLRUN_BLOCK_METADATA_WRITE };

// Start position of a bio of a stacked device. The remap event has this position and not that bio. If the device cuts a
// bio in two, the remainder has another position.
struct place {
  __u64 device, sector;
};

struct bio_note {
  __u64 queued_at_ns, operation, inode, begin, end, cgroup, pid_tid;
  __u32 file_device, op, flags, sectors;
  // Only for a bio of a stacked device: its start, or after a split that of the remainder. `sectors_below`: how many of
  // its `sectors` have been remapped to the devices below.
  struct place place;
  __u64 sectors_below;
  char comm[MLRUN_KERNEL_COMM];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 32768);
  __type(key, __u64);
  __type(value, struct bio_note);
} bios SEC(".maps");

struct placed {
  __u64 bio, end;  // `end`: the sector after its last one
};
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 4096);
  __type(key, struct place);
  __type(value, struct placed);
} places SEC(".maps");

static __always_inline bool is_stacked(struct bio *bio) { return bio->bi_bdev->bd_disk->fops->submit_bio != 0; }

// Stores the position of a bio. The map evicts its least recently used entries, because no event says when a position
// is no longer needed: a mirror remaps one position several times. look_for_lost_place counts early evictions.
static __always_inline void put_place(__u64 key, struct place place, __u64 sectors) {
  struct placed placed = {key, place.sector + sectors};
  bpf_map_update_elem(&places, &place, &placed, BPF_ANY);
}

static __always_inline void begin_at(__u64 key, struct bio_note *note, struct place place, __u64 sectors) {
  note->place = place;
  note->sectors = sectors;
  note->sectors_below = 0;
  put_place(key, place, sectors);
}

static __always_inline struct place place_of_bio(struct bio *bio) {
  struct place place = {bio->bi_bdev->bd_dev, bio->bi_iter.bi_sector};
  return place;
}

static __always_inline void note_place(struct bio *bio, __u64 key, struct bio_note *note) {
  begin_at(key, note, place_of_bio(bio), bio->bi_iter.bi_size >> kSectorShift);
}

// For the remainder of a bio whose front was cut off.
static __always_inline void note_rest(struct bio *front, __u64 rest, struct bio_note *note) {
  struct bio *bio = (struct bio *)rest;
  struct place place = {front->bi_bdev->bd_dev, BPF_CORE_READ(bio, bi_iter.bi_sector)};
  begin_at(rest, note, place, BPF_CORE_READ(bio, bi_iter.bi_size) >> kSectorShift);
}

// Called at the end of a bio of a stacked device. If it was not fully remapped: either the driver completed it itself,
// and its position is still in the map; or the entry was evicted before a remap needed it, which is counted.
static __always_inline void look_for_lost_place(__u64 key, const struct bio_note *note) {
  if (note->sectors_below >= note->sectors) return;
  struct place place = {note->place.device, note->place.sector + note->sectors_below};
  struct placed *found = bpf_map_lookup_elem(&places, &place);
  if (!found || found->bio != key) count_loss(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_PLACE);
}

static __always_inline void put_note(__u64 key, struct bio_note *note) {
  if (bpf_map_update_elem(&bios, &key, note, BPF_ANY)) count_loss(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_MAP);
}

// True: the bio belongs to a traced process, which queues it itself or has dirtied the pages that it writes.
static __always_inline bool find_owner(struct bio *bio, const struct bio_pages *pages, struct bio_note *note) {
  if (is_observed(bpf_get_current_task_btf())) {
    struct thread_state *thread = thread_of(bpf_get_current_task_btf());
    if (thread) note->operation = outermost_operation(thread);
    note->pid_tid = current_pid_tid();
    bpf_get_current_comm(note->comm, sizeof note->comm);
    return true;
  }
  if (!pages->inode || block_op(bio->bi_opf) != MLRUN_BLOCK_WRITE) return false;
  struct inode_key key = {pages->inode, pages->device, pages->generation};
  struct writer *writer = bpf_map_lookup_elem(&writers, &key);
  if (!writer) return false;
  note->pid_tid = writer->pid_tid;
  __builtin_memcpy(note->comm, writer->comm, sizeof note->comm);
  note->flags |= MLRUN_BLOCK_WRITEBACK;
  return true;
}

// True: a traced process has dirtied pages of this file, but the entry in `writers` was evicted. Requires: find_owner
// returned false.
static __always_inline bool has_lost_owner(struct bio *bio, const struct bio_pages *pages) {
  struct inode_key key = {pages->inode, pages->device, pages->generation};
  return pages->of_file && block_op(bio->bi_opf) == MLRUN_BLOCK_WRITE && was_written(&key);
}

// True: a kernel thread writes journal blocks or metadata of a file system on a device that traced processes write to.
static __always_inline bool is_metadata_write(struct bio *bio, const struct bio_pages *pages, struct bio_note *note) {
  if (block_op(bio->bi_opf) != MLRUN_BLOCK_WRITE || !bio->bi_iter.bi_size) return false;
  if (!pages->of_device && !(block_flags(bio->bi_opf) & MLRUN_BLOCK_META)) return false;
  if (!(bpf_get_current_task_btf()->flags & kKernelThread) || !is_used(number_of(bio->bi_bdev->bd_disk))) return false;
  note->pid_tid = current_pid_tid();
  bpf_get_current_comm(note->comm, sizeof note->comm);
  note->flags |= MLRUN_BLOCK_METADATA_WRITE;
  return true;
}

// With --system: all other bios, of kernel threads themselves.
static __always_inline bool is_bio_observed(struct bio_note *note) {
  if (!is_system_wide()) return false;
  note->pid_tid = current_pid_tid();
  bpf_get_current_comm(note->comm, sizeof note->comm);
  return true;
}

static __always_inline void fill_note(struct bio *bio, const struct bio_pages *pages, struct bio_note *note) {
  note->queued_at_ns = now_ns();
  note->op = block_op(bio->bi_opf);
  if (note->op == MLRUN_BLOCK_WRITE && !bio->bi_iter.bi_size) note->op = MLRUN_BLOCK_FLUSH;
  note->flags |= block_flags(bio->bi_opf);
  note->inode = pages->inode;
  note->begin = pages->begin;
  note->end = pages->end;
  note->file_device = pages->of_file ? pages->device : bio->bi_bdev->bd_dev;
  if (pages->of_device) note->flags |= MLRUN_BLOCK_DEVICE_INODE;
  if (!pages->of_file && !pages->of_device && bio->bi_iter.bi_size) note->flags |= MLRUN_BLOCK_ANONYMOUS;
  note->cgroup = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup, kn, id);
}

// Marks a bio of a stacked device. The bios that it becomes on the devices below are found by its position.
static __always_inline void go_through(struct bio *bio, __u64 key, struct bio_note *note) {
  note->flags |= MLRUN_BLOCK_STACKED;
  note_place(bio, key, note);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_bio_queue, struct bio *bio) {
  __u64 key = (__u64)bio;
  struct bio_note *known = bpf_map_lookup_elem(&bios, &key);
  if (known && known->flags & MLRUN_BLOCK_REMAPPED) {  // a remapped bio has the note of its parent
    if (is_stacked(bio)) go_through(bio, key, known);
    return 0;
  }
  if (known) count_loss(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_OPEN);  // of an earlier bio, whose end was missed
  struct bio_pages pages = {};
  struct bio_note note = {};
  look_at_pages(bio, &pages);
  bool has_owner = find_owner(bio, &pages, &note);
  bool is_metadata = !has_owner && is_metadata_write(bio, &pages, &note);
  if (!has_owner && !is_metadata && has_lost_owner(bio, &pages))
    count_loss(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_WRITER);
  if (!has_owner && !is_metadata && !is_bio_observed(&note)) {
    if (known) bpf_map_delete_elem(&bios, &key);
    return 0;
  }
  fill_note(bio, &pages, &note);
  if (note.op == MLRUN_BLOCK_WRITE) note_used(number_of(bio->bi_bdev->bd_disk));
  if (is_stacked(bio)) {
    go_through(bio, key, &note);
  } else if (with_waits && has_owner && !(note.flags & kByAKernelThread)) {
    set_submitting(true);
  }
  put_note(key, &note);
  return 0;
}

// The three programs below: the bio got a new request, or was merged into the back or front of an existing one.
SEC("tp_btf/block_getrq")
int BPF_PROG(on_bio_placed, struct bio *bio) { return set_submitting(false); }
SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(on_bio_behind, struct bio *bio) { return set_submitting(false); }
SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(on_bio_before, struct bio *bio) { return set_submitting(false); }

SEC("tp_btf/block_split")
int BPF_PROG(on_bio_split, struct bio *front) {
  __u64 key = (__u64)front, parent = (__u64)front->bi_private;
  if (bpf_map_lookup_elem(&bios, &key)) {  // device mapper: the remainder of the same bio
    put_place(key, place_of_bio(front), front->bi_iter.bi_size >> kSectorShift);
    return 0;
  }
  struct bio_note *whole = bpf_map_lookup_elem(&bios, &parent), note;
  if (!whole) return 0;
  note = *whole;
  note.flags |= MLRUN_BLOCK_SPLIT;
  if (note.flags & MLRUN_BLOCK_STACKED) {
    note_place(front, key, &note);
    note_rest(front, parent, whole);
  }
  put_note(key, &note);
  return 0;
}

// For drivers that pass the same bio to the device below instead of a new one (md, nvme with several paths).
static __always_inline void send_on(struct bio *bio, __u64 key, struct bio_note *note) {
  note->flags = (note->flags | MLRUN_BLOCK_REMAPPED) & ~MLRUN_BLOCK_STACKED;
  if (is_stacked(bio)) go_through(bio, key, note);
}

SEC("tp_btf/block_bio_remap")
int BPF_PROG(on_bio_remap, struct bio *bio, dev_t from_device, sector_t from_sector) {
  struct place place = {from_device, from_sector};
  struct placed *found = bpf_map_lookup_elem(&places, &place);
  if (!found) return 0;
  struct placed parent = *found;
  __u64 key = (__u64)bio;
  struct bio_note *above = bpf_map_lookup_elem(&bios, &parent.bio), note;
  if (!above) return 0;
  if (parent.bio == key) {
    send_on(bio, key, above);
    return 0;
  }
  note = *above;
  note.flags = (note.flags | MLRUN_BLOCK_REMAPPED) & ~MLRUN_BLOCK_STACKED;
  put_note(key, &note);
  __sync_fetch_and_add(&above->sectors_below, bio->bi_iter.bi_size >> kSectorShift);
  place.sector += bio->bi_iter.bi_size >> kSectorShift;
  if (place.sector < parent.end) bpf_map_update_elem(&places, &place, &parent, BPF_ANY);
  return 0;
}

static __always_inline void fill_fragment(struct mlrun_bio_fragment *fragment, const struct bio_note *note,
                                          struct bio *bio, __u64 done_ns) {
  fragment->head = make_head(MLRUN_KERNEL_FRAGMENT, sizeof *fragment, done_ns, note->pid_tid);
  fragment->operation = note->operation;
  fragment->queued_at_ns = note->queued_at_ns;
  fragment->inode = note->inode;
  fragment->file_begin = note->begin;
  fragment->file_end = note->end;
  fragment->sector = BPF_CORE_READ(bio, bi_iter.bi_sector);
  fragment->cgroup = note->cgroup;
  fragment->device = BPF_CORE_READ(bio, bi_bdev, bd_dev);
  fragment->file_device = note->file_device;
  fragment->op = note->op;
  fragment->flags = note->flags;
  fragment->spare = 0;
  __builtin_memcpy(fragment->comm, note->comm, sizeof fragment->comm);
}

// A bio of a stacked device has no request: its fragment ends here, without time on a device. nvme with several paths
// also reports the end of a bio for the disk above, before the request of the path completes: such events are skipped.
SEC("tp_btf/block_bio_complete")
int BPF_PROG(on_bio_complete, struct request_queue *queue, struct bio *bio) {
  if (queue != BPF_CORE_READ(bio, bi_bdev, bd_disk, queue)) return 0;
  __u64 key = (__u64)bio, done_ns = now_ns();
  struct bio_note *note = bpf_map_lookup_elem(&bios, &key);
  if (!note) return 0;
  if (note->flags & MLRUN_BLOCK_STACKED) {
    look_for_lost_place(key, note);
    struct mlrun_bio_fragment *fragment = RESERVE(mlrun_bio_fragment, MLRUN_KERNEL_FRAGMENT);
    if (fragment) {
      fill_fragment(fragment, note, bio, done_ns);
      fragment->request = 0;
      fragment->issued_at_ns = done_ns;
      fragment->bytes = 0;
      submit(fragment);
    }
  }
  bpf_map_delete_elem(&bios, &key);
  return 0;
}
