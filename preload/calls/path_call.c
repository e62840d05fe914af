// SPDX-License-Identifier: Apache-2.0
#include "preload/calls/path_call.h"

#include <string.h>

#include "preload/base/scratch.h"
#include "preload/base/zero_bytes.h"
#include "preload/calls/capture.h"
#include "preload/calls/working_directory.h"
#include "preload/files/file_identity.h"
#include "preload/files/path_rules.h"
#include "preload/record/strings.h"
#include "runner/events/content_hash.h"

// The directory that a path is relative to. All zero: none.
struct base {
  uint32_t open_file;  // of the dirfd
  bool working_directory;
};

static struct base base_of(const struct text *path, int dirfd) {
  if (!text_is_relative(path)) return (struct base){0};
  if (dirfd == AT_FDCWD) return (struct base){.working_directory = true};
  return (struct base){.open_file = fd_open_folder(dirfd)};
}

enum { kShortUnits = 4, kWithDirfdUnits = 5, kWithDirectoryUnits = 6 };

static int units_of(const struct base *first, const struct base *second) {
  if (first->working_directory || second->working_directory) return kWithDirectoryUnits;
  return first->open_file || second->open_file ? kWithDirfdUnits : kShortUnits;
}

struct path_words {
  uint64_t end, flags, first, second, directory;
  int64_t result;
  struct base first_base, second_base;
};

// stack_id: 0 if the record has none.
INLINE void write_path_call(uint64_t *w, uint8_t lap, const struct pending_call *call, const struct path_words *words,
                            uint64_t stack_id) {
  int units = units_of(&words->first_base, &words->second_base);
  uint64_t flags = words->flags | (stack_id ? MLRUN_CALL_STACK : 0);
  w[1] = call->start;
  w[2] = (words->end - call->start) << 8;
  w[3] = call->requested;
  w[4] = (uint64_t)words->result << 8;
  w[5] = words->second;
  w[6] = (uint64_t)call->open_file << 8 | (flags | call->flags) << 40 | mlrun_result_top(words->result);
  w[7] = words->first;
  if (units >= kWithDirfdUnits) {
    w[8] = (uint64_t)words->first_base.open_file << 8;
    w[9] = words->second_base.open_file;
  }
  if (units >= kWithDirectoryUnits) {
    w[10] = 0;
    w[11] = words->directory;
  }
  if (stack_id) write_stack_unit(w + 2 * units++, stack_id);
  publish(w, lap, (uint32_t)units, call->kind, (uint32_t)call->fd);
}

// Whether an open made a file without a name (O_TMPFILE): its path names only the folder.
INLINE bool names_folder(const struct pending_call *call) { return (call->requested & O_TMPFILE) == O_TMPFILE; }

// The definition of the open file that the call made. Must be called after the reservation, which detects a fork: a child
// that was forked inside the call must not use its parent's numbers.
INLINE struct file_record describe_file(const struct pending_call *call, const struct stat *status,
                                        const struct path_words *words) {
  return (struct file_record){.clock = words->end,
                              .open_file = new_open_file_number(),
                              .origin = names_folder(call) ? MLRUN_ORIGIN_UNNAMED : MLRUN_ORIGIN_OPENED,
                              .status = status,
                              .path = words->first,
                              .directory = words->first_base.working_directory ? words->directory : 0,
                              .directory_open_file = words->first_base.open_file};
}

// Reserves and writes all records of the call. Gives an opened file its number, and enters it in the descriptor table.
static void put_words(struct path_call *path, const struct path_words *words, struct text *const *texts, int count) {
  bool opened = path->opens && words->result >= 0;
  struct stat status;
  struct stack stack = {0};
  uint32_t open_file = 0;
  if (opened) stat_descriptor((int)words->result, &status);
  if (unlikely(stack_depth) && !(words->flags & MLRUN_CALL_CANCELLED)) stack = stack_of_program();
  uint32_t bytes = (uint32_t)units_of(&words->first_base, &words->second_base) * MLRUN_UNIT_BYTES +
                   stack.definition_bytes + (stack.id ? kStackUnitBytes : 0);
  uint8_t lap;
  uint64_t *w = reserve_with_texts(texts, count, bytes + (opened ? kFileRecordBytes : 0), path->call.kind, &lap);
  if (w) w = stack_write(&stack, w, lap);
  if (w && opened) {
    struct file_record file = describe_file(&path->call, &status, words);
    write_file_record(w, lap, &file);
    open_file = file.open_file;
    w += kFileRecordBytes / 8;
  }
  if (path->opens) {
    path->call.fd = opened ? (int)words->result : -1;
    path->call.open_file = open_file;
    if (opened) fd_set_open_file((int)words->result, path->call.open_file);
  }
  if (w) write_path_call(w, lap, &path->call, words, stack.id);
  stack_release(&stack);
}

// strnlen(path, kStringMaxBytes) without libc's code and table, which are not in the L1 cache after a system call: 15
// ns of an open.
INLINE size_t path_bytes(const char *path) {
  const char *block = (const char *)((uintptr_t)path & ~15ull);
  uint32_t ends = zeros_in(block) >> ((uintptr_t)path & 15);
  if (ends) return (size_t)__builtin_ctz(ends);
  do {
    block += 16;
    ends = zeros_in(block);
  } while (!ends && block - path < kStringMaxBytes);
  size_t bytes = (size_t)(block - path) + (ends ? (size_t)__builtin_ctz(ends) : 0);
  return bytes < kStringMaxBytes ? bytes : kStringMaxBytes;
}

// Whether a plain load may read the path in the program's memory.
INLINE bool path_is_proven(const struct path_call *path, uint64_t end, int64_t result, int error) {
  return path->looks_up && look_up_is_proof(result, error) && call_was_quiet(path->watch, end - path->call.start);
}

// Whether the path ends before the call's output begins, as far as a plain load can check.
static bool ends_before_out(const struct path_call *path) {
  uintptr_t from = (uintptr_t)path->path, out = (uintptr_t)path->out;
  return from < out && bytes_on_stack(from, out - from) == out - from && memchr(path->path, 0, out - from);
}

COLD void copy_path_before(struct path_call *path) {
  size_t bytes;
  if (ends_before_out(path)) return;
  char *page = scratch_take();
  bool copied = page && path->path && copy_string_from_program(page, path->path, kScratchBytes - 1, &bytes);
  if (copied) {
    page[bytes] = 0;
    path->copy = page;
  } else {
    scratch_give(page);
    path->path = NULL;
  }
}

// The case of nearly every call: one path, which the kernel has read, absolute or relative to the working directory,
// and already defined. False: another case.
INLINE bool know_words(const struct path_call *path, struct path_words *words, int error) {
  const char *name = path->path;
  if (path->second || path->directory || !name || path->copy) return false;
  if (!path_is_proven(path, words->end, words->result, error)) return false;
  if (name[0] != '/') {
    words->directory = known_working_directory();
    if (path->call.fd != AT_FDCWD || !words->directory) return false;
    words->first_base.working_directory = true;
  }
  words->first = mlrun_content_hash(name, path_bytes(name));
  return string_is_emitted(words->first);
}

// A path relative to a directory that is left out, which no record describes, is made absolute.
static void detach(struct text *path, int dirfd) {
  if (!text_is_relative(path) || dirfd == AT_FDCWD || open_file_of(dirfd) != OPEN_FILE_LEFT_OUT) return;
  struct text absolute = text_of_absolute_path(path, dirfd);
  text_release(path);
  *path = absolute;
}

// Execs are recorded whatever the path rules say.
static bool is_left_out(const struct path_call *path, const struct text *first, const struct text *second,
                        int64_t result) {
  if (path->call.kind == KIND_execve || path->call.kind == KIND_posix_spawn) return false;
  if (path->opens && result >= 0) return !descriptor_is_wanted((int)result);
  const struct text here = {.id = 1, .at = ""};
  if (path->call.kind == KIND_chdir && result >= 0) first = &here;  // the named directory is the working directory now
  if (!first->id || path_is_wanted(first, path->call.fd)) return false;
  return !second->id || !path_is_wanted(second, path->second_dirfd);
}

// Counts the call instead of recording it, and marks the descriptor that it opened as left out.
static void leave_out(struct path_call *path, uint64_t end, int64_t result) {
  if (path->opens && result >= 0) fd_set_open_file((int)result, OPEN_FILE_LEFT_OUT);
  count_left_out(path->call.kind, end - path->call.start, result);
}

static struct text first_text(const struct path_call *path, uint64_t end, int64_t result, int error) {
  if (path->copy) return text_of_own(path->copy);
  if (error == EFAULT) {
    distrust_pointers();
    return (struct text){0};
  }
  return text_of_argument(path->path, path_is_proven(path, end, result, error));
}

// With two paths no outcome shows that the kernel has read both.
static struct text second_text(const struct path_call *path, int error) {
  return error == EFAULT ? (struct text){0} : text_of_argument(path->second, false);
}

// The number after "/proc/self/fd/", -1: it is another path.
static int descriptor_of_path(const struct text *path) {
  static const char prefix[] = "/proc/self/fd/";
  const size_t before = sizeof prefix - 1;
  if (!path->id || path->bytes <= before || path->bytes > before + 7 || memcmp(path->at, prefix, before)) return -1;
  int fd = 0;
  for (size_t i = before; i < path->bytes; i++) {
    if (path->at[i] < '0' || path->at[i] > '9') return -1;
    fd = fd * 10 + path->at[i] - '0';
  }
  return fd;
}

// A link of /proc/self/fd is recorded by its descriptor: the path would not identify the file.
static void name_descriptor(struct path_call *path, struct text *first) {
  int fd = descriptor_of_path(first);
  if (fd < 0 || !open_file_of(fd)) return;
  text_release(first);
  *first = text_of_own("");
  path->call.fd = fd;
}

static COLD void put_new_path(struct path_call *path, uint64_t end, int64_t result, int error, uint64_t flags) {
  struct text first = first_text(path, end, result, error), second = second_text(path, error);
  struct text directory = {0};
  if (path->call.kind == KIND_linkat && result == 0) name_descriptor(path, &first);
  if (unlikely(path_rules_on)) {
    if (is_left_out(path, &first, &second, result)) {
      leave_out(path, end, result);
      text_release(&first);
      text_release(&second);
      return;
    }
    detach(&first, path->call.fd);
    detach(&second, path->second_dirfd);
  }
  struct path_words words = {.end = end, .flags = flags, .first = first.id, .second = second.id, .result = result};
  words.first_base = base_of(&first, path->call.fd);
  words.second_base = base_of(&second, path->second_dirfd);
  if (words.first_base.working_directory || words.second_base.working_directory)
    directory = path->directory ? *path->directory : text_of_working_directory();
  words.directory = directory.id;

  put_words(path, &words, (struct text *const[]){&first, &second, &directory}, 3);
  text_release(&first);
  text_release(&second);
  if (!path->directory) text_release(&directory);
}

void put_path_call(struct path_call *path, uint64_t end, int64_t result, int error, uint64_t flags) {
  struct path_words words = {.end = end, .flags = flags, .result = result};
  if (likely(!path_rules_on) && know_words(path, &words, error))
    put_words(path, &words, 0, 0);
  else
    put_new_path(path, end, result, error, flags);
}

// A successful open with known strings and without a stack: the same records as put_words writes. Training jobs open
// each file of their data once an epoch, so this path matters; its cost is mostly code that is not in the L1 cache
// after a system call.
INLINE void put_known_open(struct pending_call *call, const struct path_words *words) {
  int fd = (int)words->result;
  struct stat status;
  stat_descriptor(fd, &status);
  uint8_t lap;
  uint32_t units = words->first_base.working_directory ? kWithDirectoryUnits : kShortUnits;
  uint64_t *w = reserve(kFileRecordBytes + units * MLRUN_UNIT_BYTES, call->kind, &lap);
  call->fd = fd;
  if (unlikely(!w)) {
    fd_set_open_file(fd, 0);
    return;
  }
  struct file_record file = describe_file(call, &status, words);
  call->open_file = file.open_file;
  fd_set_open_file(fd, file.open_file);
  write_file_record(w, lap, &file);
  write_path_call(w + kFileRecordBytes / 8, lap, call, words, 0);
}

void end_path_call(struct path_call *path, int64_t result) {
  compiler_barrier();
  if (unlikely(!path->call.start)) {
    if (path->opens && result >= 0) fd_set_open_file((int)result, 0);
    return;
  }
  int error = result == -1 ? errno : 0;
  put_path_call(path, now_ticks(), error ? -error : result, error, path->opens ? 0 : MLRUN_CALL_PASSED_FD);
  if (unlikely(path->copy != NULL)) scratch_give(path->copy);
}

INLINE void end_open(struct path_call *path, int64_t result) {
  compiler_barrier();
  if (unlikely(!path->call.start || result < 0 || path_rules_on || stack_depth)) {
    end_path_call(path, result);
    return;
  }
  struct path_words words = {.end = now_ticks(), .result = result};
  if (likely(know_words(path, &words, 0)))
    put_known_open(&path->call, &words);
  else
    put_new_path(path, words.end, result, 0, 0);
}

int traced_open(const char *path, int flags, mode_t mode, open_function real) {
  struct path_call call PATH_CALL_CLEANUP = {.call.kind = KIND_open,
                                             .call.fd = AT_FDCWD,
                                             .call.requested = PAIR(flags, mode),
                                             .path = path,
                                             .opens = true,
                                             .looks_up = true};
  begin_path_call(&call);
  int result = real(path, flags, mode);
  end_open(&call, result);
  return result;
}

int traced_openat(int dirfd, const char *path, int flags, mode_t mode, openat_function real) {
  struct path_call call PATH_CALL_CLEANUP = {.call.kind = KIND_openat,
                                             .call.fd = dirfd,
                                             .call.requested = PAIR(flags, mode),
                                             .path = path,
                                             .opens = true,
                                             .looks_up = true};
  begin_path_call(&call);
  int result = real(dirfd, path, flags, mode);
  end_open(&call, result);
  return result;
}

void end_unnamed_open(struct path_call *path, int result) {
  compiler_barrier();
  uint64_t end = path->call.start ? now_ticks() : 0;
  int error = result == -1 ? errno : 0;
  fd_set_open_file(result, 0);
  if (unlikely(!path->call.start)) return;
  path->call.fd = result;
  path->call.open_file = open_file_of(result);
  if (unlikely(path->call.open_file == OPEN_FILE_LEFT_OUT)) {
    leave_out(path, end, result);
    return;
  }
  put_path_call(path, end, error ? -error : result, error, 0);
}
