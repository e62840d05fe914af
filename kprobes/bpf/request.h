// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Block requests. A request serves many bios, of several operations and processes; a large bio takes many requests.
// When a request completes, the program walks its bios: each bio with a note (bio.h) yields a bio fragment, and a
// request with such a bio gets a record. Flushes may get one without (add_to_device).
#pragma once

#include "kprobes/bpf/bio.h"
#include "kprobes/bpf/last_completion.h"
#include "kprobes/bpf/loop.h"

enum { kFragmentsMax = 4096, kFragmentsMaxBefore = 64 };  // bios walked in one completion

struct request_note {
  __u64 number, inserted_at_ns, issued_at_ns, queued_at_ns;
  __u32 issues, fragments, own_fragments, metadata_fragments, bytes;
  // No narrower field here: kernels before 6.3 refuse a value from the stack with uninitialised padding.
  __u32 requeued;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64);
  __type(value, struct request_note);
} requests SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, struct mlrun_device_key);
  __type(value, struct mlrun_device_total);
} devices SEC(".maps");

__u64 last_request;

static __always_inline __u64 next_request(void) { return __sync_fetch_and_add(&last_request, 1) + 1; }

static __always_inline struct gendisk *disk_of(struct request *request) {
  struct request___disk *old = (void *)request;
  return bpf_core_field_exists(old->rq_disk) ? BPF_CORE_READ(old, rq_disk) : BPF_CORE_READ(request, q, disk);
}

// `counts`: if the map is full, the request is counted as lost.
static __always_inline void put_request(__u64 key, struct request_note *note, bool counts) {
  long error = bpf_map_update_elem(&requests, &key, note, BPF_ANY);
  if (error && counts) count_loss(MLRUN_KERNEL_REQUEST, MLRUN_KERNEL_LOSS_MAP);
}

// The note of a request that waits to be issued; NULL: there is none. A note that was issued and not requeued belongs
// to an earlier request at the same address, whose completion was not seen.
static __always_inline struct request_note *under_way(__u64 key) {
  struct request_note *known = bpf_map_lookup_elem(&requests, &key);
  return known && (!known->issued_at_ns || known->requeued) ? known : 0;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_request_insert, struct request *request) {
  __u64 key = (__u64)request;
  struct request_note note = {.inserted_at_ns = now_ns()};
  if (under_way(key)) return 0;  // inserted again: the wait began at the first insertion
  note.number = next_request();
  put_request(key, &note, false);  // no loss yet: the map may have room when the request is issued
  return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(on_request_requeue, struct request *request) {
  __u64 key = (__u64)request;
  struct request_note *known = bpf_map_lookup_elem(&requests, &key);
  if (known) known->requeued = true;
  return 0;
}

// A requeued request is issued again: time on the device counts from the last issue.
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_request_issue, struct request *request) {
  __u64 key = (__u64)request;
  struct request_note *known = under_way(key);
  if (known) {
    known->issued_at_ns = now_ns();
    known->issues++;
    known->requeued = false;
    return 0;
  }
  struct request_note note = {.number = next_request(), .issued_at_ns = now_ns(), .issues = 1};
  put_request(key, &note, true);
  return 0;
}

// The bios of this request were merged into another request.
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_request_merge, struct request *request) {
  __u64 key = (__u64)request;
  bpf_map_delete_elem(&requests, &key);
  return 0;
}

// State of the walk over the bios of a request. Sums are in the note, a map value: on the stack the verifier would
// track their values.
struct fragment_walk {
  struct bio *bio;
  struct request_note *note;
  __u64 done_ns;
  __u32 left;
};

// Emits one bio fragment. Bios of untraced processes are only counted. Returns non-zero to stop.
static long emit_fragment(__u32 index, void *context) {
  struct fragment_walk *walk = context;
  struct bio *bio = walk->bio;
  struct request_note *note = walk->note;
  if (!bio) return 1;
  __u64 key = (__u64)bio;
  __u32 size = BPF_CORE_READ(bio, bi_iter.bi_size), got = size < walk->left ? size : walk->left;
  struct bio_note *owner = bpf_map_lookup_elem(&bios, &key);
  if (owner) {
    struct mlrun_bio_fragment *fragment = RESERVE(mlrun_bio_fragment, MLRUN_KERNEL_FRAGMENT);
    if (fragment) {
      fill_fragment(fragment, owner, bio, walk->done_ns);
      fragment->request = note->number;
      fragment->issued_at_ns = note->issued_at_ns;
      fragment->bytes = got;
      submit(fragment);
    }
    if (owner->flags & MLRUN_BLOCK_METADATA_WRITE)
      note->metadata_fragments++;
    else
      note->own_fragments++;
    if (!note->queued_at_ns || owner->queued_at_ns < note->queued_at_ns) note->queued_at_ns = owner->queued_at_ns;
    if (got == size) bpf_map_delete_elem(&bios, &key);
  }
  note->fragments++;
  walk->left -= got;
  walk->bio = BPF_CORE_READ(bio, bi_next);
  return !walk->left;
}

// Emits the bio fragments of the first `bytes`, which are complete. By bpf_loop: the verifier refuses so long an
// unrolled loop.
static __always_inline void emit_fragments(struct request *request, struct request_note *note, __u32 bytes,
                                           __u64 done_ns) {
  struct fragment_walk walk = {request->bio, note, done_ns, bytes};
  run_loop(kFragmentsMax, kFragmentsMaxBefore, emit_fragment, &walk);
  if (walk.bio && walk.left) count_loss(MLRUN_KERNEL_FRAGMENT, MLRUN_KERNEL_LOSS_MAP);
}

static __always_inline void emit_request(struct request *request, const struct request_note *note, __u32 device,
                                         __u32 op, int error, __u64 done_ns) {
  struct mlrun_block_request *record = RESERVE(mlrun_block_request, MLRUN_KERNEL_REQUEST);
  if (!record) return;
  record->head = make_head(MLRUN_KERNEL_REQUEST, sizeof *record, done_ns, current_pid_tid());
  record->request = note->number;
  record->queued_at_ns = note->queued_at_ns;
  record->inserted_at_ns = note->inserted_at_ns;
  record->issued_at_ns = note->issued_at_ns;
  // The kernel has already removed bytes that completed in earlier steps from the front of the request.
  record->sector = request->__sector - (note->bytes - request->__data_len) / 512;
  record->bytes = note->bytes;
  record->device = device;
  record->op = op;
  record->flags = block_flags(request->cmd_flags);
  if (!note->own_fragments && note->metadata_fragments) record->flags |= MLRUN_BLOCK_METADATA_WRITE;
  record->error = error;
  record->issues = note->issues;
  record->fragments = note->fragments;
  record->spare = 0;
  bpf_get_current_comm(record->comm, sizeof record->comm);
  submit(record);
}

static __always_inline struct mlrun_device_total *total_of(struct gendisk *disk, struct mlrun_device_key key) {
  struct mlrun_device_total first = {}, *total = bpf_map_lookup_elem(&devices, &key);
  if (total) return total;
  BPF_CORE_READ_STR_INTO(&first.name, disk, disk_name);
  bpf_map_update_elem(&devices, &key, &first, BPF_NOEXIST);
  return bpf_map_lookup_elem(&devices, &key);
}

// Adds a completed request to the totals of its device. True: a traced process has written to this device, so a flush
// on it may be on that process's behalf.
static __always_inline bool add_to_device(struct gendisk *disk, __u32 device, __u32 op, const struct request_note *note,
                                          int error, __u64 done_ns) {
  struct mlrun_device_total *total = total_of(disk, (struct mlrun_device_key){device, op});
  if (!total) {
    count_loss(MLRUN_KERNEL_REQUEST, MLRUN_KERNEL_LOSS_MAP);
    return false;
  }
  __sync_fetch_and_add(&total->requests, 1);
  __sync_fetch_and_add(&total->bytes, note->bytes);
  if (note->issued_at_ns) __sync_fetch_and_add(&total->device_ns, done_ns - note->issued_at_ns);
  if (error) __sync_fetch_and_add(&total->errors, 1);
  if (note->own_fragments) {
    __sync_fetch_and_add(&total->own_requests, 1);
    __sync_fetch_and_add(&total->own_bytes, note->bytes);
  }
  struct mlrun_device_key writes = {device, MLRUN_BLOCK_WRITE};
  total = bpf_map_lookup_elem(&devices, &writes);
  return (total && total->own_requests) || is_used(device);
}

// The note of a completing request, created if it has none; NULL: the map is full. A request with `bytes` was counted
// as lost when it was issued, and is not counted again.
static __always_inline struct request_note *note_of(__u64 key, __u32 bytes) {
  struct request_note *known = bpf_map_lookup_elem(&requests, &key);
  if (known) return known;
  struct request_note note = {.number = next_request()};  // a flush without data is never issued itself
  put_request(key, &note, !bytes);
  return bpf_map_lookup_elem(&requests, &key);
}

// The kernel turns a write with a flush before or after it into a sequence of requests. At its end the original request
// completes again, without bytes; so does a requested flush without data. This completion wakes the waiting thread. It
// is recorded as a flush if the request has a bio with a note, or with --system; the device's totals do not include it.
static __always_inline void finish_request(struct request *request, struct request_note *note, __u32 op, int error,
                                           __u64 done_ns) {
  struct gendisk *disk = disk_of(request);
  __u32 device = number_of(disk);
  bool ends_sequence = op == MLRUN_BLOCK_WRITE && !note->bytes;
  bool is_own = note->own_fragments || note->metadata_fragments || is_system_wide();
  if (ends_sequence)
    op = MLRUN_BLOCK_FLUSH;
  else if (add_to_device(disk, device, op, note, error, done_ns) && op == MLRUN_BLOCK_FLUSH)
    is_own = true;
  if (is_own) emit_request(request, note, device, op, error, done_ns);
  struct mlrun_probe_last *last = last_completion();
  if (!last) return;
  last->request = is_own ? note->number : 0;
  last->time_ns = now_ns();
}

// A request may complete in several steps. The last step is that with all the bytes that are left.
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_request_complete, struct request *request, int error, __u32 bytes) {
  __u64 key = (__u64)request, done_ns = now_ns();
  __u32 op = block_op(request->cmd_flags);
  struct request_note *note = op == MLRUN_BLOCK_OTHER ? 0 : note_of(key, bytes);
  if (note) {
    emit_fragments(request, note, bytes, done_ns);
    note->bytes += bytes;
    if (bytes < request->__data_len) return 0;
    finish_request(request, note, op, error, done_ns);
  }
  bpf_map_delete_elem(&requests, &key);
  return 0;
}
