// SPDX-License-Identifier: Apache-2.0
#include "preload/record/process_record.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/next_symbol.h"
#include "preload/base/raw_syscall.h"
#include "preload/base/real_allocator.h"
#include "preload/core/recorder.h"
#include "preload/record/channel.h"
#include "preload/record/library_record.h"
#include "preload/record/process_ranks.h"
#include "preload/record/producer_functions.h"
#include "preload/record/strings.h"
#include "runner/events/session.h"

enum { kRecordUnits = 8, kNoteUnits = 4, kStartTimeField = 22 };

enum fact { kExe, kArguments, kCgroup, kDirectory, kAllocator, kFacts };

struct fact_text {
  const char *at;
  size_t bytes;
};

static struct fact_text facts[kFacts];
static char text_space[kFacts * kStringMaxBytes];
static uint64_t start_ticks;  // of the process, in clock ticks since boot
static struct process_ranks ranks;
static struct fact_text foreign_injection;  // the library in CUDA_INJECTION64_PATH, if it is not mlrun's
static uint32_t uid;
static bool own_new, malloc_in_front;

// Bytes read from the file's start, 0 if it cannot be read.
static size_t read_file(const char *path, char *into, size_t room) {
  long fd = raw_syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  long bytes = raw_syscall3(SYS_read, fd, (long)into, (long)room);
  raw_syscall1(SYS_close, fd);
  return bytes > 0 ? (size_t)bytes : 0;
}

static size_t read_link(const char *path, char *into, size_t room) {
  long bytes = raw_syscall4(SYS_readlinkat, AT_FDCWD, (long)path, (long)into, (long)room);
  return bytes > 0 ? (size_t)bytes : 0;
}

static uint64_t number_after(const char *text, size_t *at, size_t bytes) {
  uint64_t number = 0;
  for (; *at < bytes && text[*at] >= '0' && text[*at] <= '9'; ++*at) number = number * 10 + (uint64_t)(text[*at] - '0');
  return number;
}

// The process name is in parentheses before the third field and may contain anything.
uint64_t process_stat_field(int wanted) {
  char stat[1024];
  size_t bytes = read_file("/proc/self/stat", stat, sizeof stat), at = bytes;
  while (at && stat[at - 1] != ')') at--;
  for (int field = 2; at < bytes && field < wanted; at++) field += stat[at] == ' ';
  return number_after(stat, &at, bytes);
}

static uint64_t read_pid_namespace(void) {
  char link[64];  // pid:[4026531836]
  size_t bytes = read_link("/proc/self/ns/pid", link, sizeof link), at = 0;
  while (at < bytes && link[at++] != '[') continue;
  return number_after(link, &at, bytes);
}

// The line of the unified cgroup hierarchy (0::), or the first line if there is none.
static struct fact_text cgroup_line(const char *text, size_t bytes) {
  struct fact_text first = {0};
  for (size_t start = 0, end; start < bytes; start = end + 1) {
    for (end = start; end < bytes && text[end] != '\n'; end++) continue;
    struct fact_text line = {text + start, end - start};
    if (line.bytes >= 3 && !memcmp(line.at, "0::", 3)) return line;
    if (!first.at) first = line;
  }
  return first;
}

static void read_injection(char **environment) {
  static const char kName[] = MLRUN_CUDA_INJECTION "=", kOurs[] = "/" MLRUN_CUPTI_LIBRARY;
  for (; *environment; environment++) {
    if (strncmp(*environment, kName, sizeof kName - 1)) continue;
    const char *value = *environment + sizeof kName - 1;
    size_t bytes = strlen(value), ours = sizeof kOurs - 1;
    bool is_ours = bytes >= ours && !memcmp(value + bytes - ours, kOurs, ours);
    if (!is_ours) foreign_injection = (struct fact_text){value, bytes < kStringMaxBytes ? bytes : kStringMaxBytes};
    return;
  }
}

void process_record_enter_namespace(void) { process.pid_namespace = read_pid_namespace(); }

static char *keep(enum fact fact, char *at, size_t bytes) {
  facts[fact] = (struct fact_text){at, bytes};
  return at + bytes;
}

void process_record_collect(char **environment) {
  char *at = text_space;
  at = keep(kExe, at, read_link("/proc/self/exe", at, kStringMaxBytes));
  at = keep(kArguments, at, read_file("/proc/self/cmdline", at, kStringMaxBytes));
  long directory = raw_syscall2(SYS_getcwd, (long)at, kStringMaxBytes);
  at = keep(kDirectory, at, directory > 1 && at[0] == '/' ? (size_t)directory - 1 : 0);
  size_t cgroup = read_file("/proc/self/cgroup", at, kStringMaxBytes);
  facts[kCgroup] = cgroup_line(at, cgroup);
  if (!real_allocator.malloc) real_allocator_resolve();
  const char *allocator = real_allocator_object();
  facts[kAllocator] = *allocator ? (struct fact_text){allocator, strlen(allocator)} : facts[kExe];
  own_new = real_allocator_has_new();
  malloc_in_front = symbol_in_front("malloc") != NULL;
  start_ticks = process_stat_field(kStartTimeField);
  process.pid_namespace = read_pid_namespace();
  uid = (uint32_t)raw_syscall0(SYS_getuid);
  ranks = process_ranks_read(environment);
  read_injection(environment);
}

const char *process_exe(size_t *bytes) {
  *bytes = facts[kExe].bytes;
  return *bytes ? facts[kExe].at : NULL;
}

static void fill(uint64_t *w, const uint64_t *ids) {
  uint64_t origin = process.forked ? MLRUN_PROCESS_FORKED : MLRUN_PROCESS_LOADED;
  w[1] = now_ticks();
  w[MLRUN_PW_ORIGIN] = origin << 8 | (uint64_t)process.parent_pid << 32;
  w[MLRUN_PW_NUMBERS] = process.wiped->process_number | (uint64_t)process.image << 32;
  w[MLRUN_PW_START] = process.forked ? 0 : start_ticks << 8;
  w[MLRUN_PW_EXE] = ids[kExe];
  w[MLRUN_PW_RANK] = ranks.word;
  w[MLRUN_PW_ARGUMENTS] = ids[kArguments];
  w[MLRUN_PW_NAMESPACE] = process.pid_namespace << 8;
  w[MLRUN_PW_CGROUP] = ids[kCgroup];
  w[MLRUN_PW_UID] = (uint64_t)uid << 8 | (uint64_t)(real_allocator.is_glibc || real_allocator.placed_base) << 40 |
                    (uint64_t)own_new << 41 | (uint64_t)malloc_in_front << 42;
  w[MLRUN_PW_CWD] = ids[kDirectory];
  w[MLRUN_PW_LAUNCHER] = ranks.launcher << 8;
  w[MLRUN_PW_ALLOCATOR] = ids[kAllocator];
  w[14] = w[15] = 0;
}

static bool write_record(void) {
  uint64_t ids[kFacts];
  size_t more[kFacts], bytes = kRecordUnits * MLRUN_UNIT_BYTES;
  for (int i = 0; i < kFacts; i++) {
    ids[i] = more[i] = 0;
    if (facts[i].bytes) ids[i] = string_prepare(facts[i].at, facts[i].bytes, &more[i]);
    bytes += more[i];
  }
  uint8_t lap;
  uint64_t *w = reserve((uint32_t)bytes, MLRUN_PROCESS, &lap);
  if (!w) return false;
  for (int i = 0; i < kFacts; i++) {
    if (!more[i]) continue;
    string_write(w, lap, ids[i], facts[i].at, facts[i].bytes);
    w += more[i] / 8;
  }
  fill(w, ids);
  publish(w, lap, kRecordUnits, MLRUN_PROCESS, process.pid);
  for (int i = 0; i < kFacts; i++)
    if (more[i]) string_emitted(ids[i]);
  return true;
}

// Reports that GPU work was requested but cannot be recorded here, because CUDA loads another library in place of ours.
static void write_foreign_injection(void) {
  struct fact_text file = foreign_injection;
  if (!file.bytes || process.forked || !(control->streams & MLRUN_STREAM_GPU)) return;
  size_t more;
  uint64_t id = string_prepare(file.at, file.bytes, &more);
  uint8_t lap;
  uint64_t *w = reserve((uint32_t)more + kNoteUnits * MLRUN_UNIT_BYTES, MLRUN_GPU_NOTE, &lap);
  if (!w) return;
  if (more) string_write(w, lap, id, file.at, file.bytes);
  w += more / 8;
  w[1] = now_ticks();
  w[2] = w[3] = w[4] = w[5] = w[6] = 0;
  w[7] = id;
  publish(w, lap, kNoteUnits, MLRUN_GPU_NOTE, MLRUN_GPU_FOREIGN);
  if (more) string_emitted(id);
}

void process_record_write(void) {
  if (__atomic_exchange_n(&process.wiped->announced, 1, __ATOMIC_RELAXED)) return;
  if (write_record())
    write_foreign_injection();
  else
    process.wiped->announced = 0;
}

struct io_counters {
  uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
};

static uint64_t counter(const char *text, size_t bytes, const char *name) {
  size_t length = strlen(name);
  for (size_t at = 0; at + length < bytes; at++) {
    if (memcmp(text + at, name, length) || (at && text[at - 1] != '\n')) continue;
    at += length;
    return number_after(text, &at, bytes);
  }
  return 0;
}

static bool read_io(struct io_counters *io) {
  char text[512];
  size_t bytes = read_file("/proc/self/io", text, sizeof text);
  io->rchar = counter(text, bytes, "rchar: ");
  io->wchar = counter(text, bytes, "wchar: ");
  io->syscr = counter(text, bytes, "syscr: ");
  io->syscw = counter(text, bytes, "syscw: ");
  io->read_bytes = counter(text, bytes, "read_bytes: ");
  io->write_bytes = counter(text, bytes, "write_bytes: ");
  return bytes;
}

void process_end_write(int status) {
  struct io_counters io;
  uint8_t lap;
  if (!stamp()) return;
  // The end itself is always recorded, if need be without the counters of /proc/self/io: a confined process may make no
  // system call, and after a change of user the file cannot be read.
  bool may_ask = recording_system_calls_allowed();
  if (may_ask) {
    record_end();
    libraries_write();
  }
  if (!may_ask || !read_io(&io)) memset(&io, 0xff, sizeof io);
  uint64_t *w = reserve(5 * MLRUN_UNIT_BYTES, MLRUN_END, &lap);
  if (!w) return;
  w[1] = now_ticks();
  w[2] = (uint64_t)(status & 0xff) << 8;
  w[3] = io.rchar;
  w[4] = io.syscr << 8;
  w[5] = io.wchar;
  w[6] = io.syscw << 8;
  w[7] = io.read_bytes;
  w[8] = io.write_bytes << 8;
  // A process that torch's mp.spawn started has no rank at load; it sets the rank's variables itself.
  w[MLRUN_EW_RANK] = ranks.launcher || !__environ ? 0 : process_ranks_read(__environ).word;
  publish(w, lap, 5, MLRUN_END, process.pid);
}
