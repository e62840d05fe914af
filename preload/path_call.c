// SPDX-License-Identifier: Apache-2.0
#include "preload/path_call.h"

#include "preload/file_identity.h"

// What a path is relative to. All zero: to nothing.
struct base {
  uint32_t open_file;  // of the dirfd
  bool working_directory;
};

static struct base base_of(const struct text *path, int dirfd) {
  if (!text_is_relative(path)) return (struct base){0};
  if (dirfd == AT_FDCWD) return (struct base){.working_directory = true};
  return (struct base){.open_file = open_file_of(dirfd)};
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

static void write_path_call(uint64_t *w, uint8_t lap, const struct pending_call *call, const struct path_words *words) {
  int units = units_of(&words->first_base, &words->second_base);
  w[1] = call->start;
  w[2] = (words->end - call->start) << 8;
  w[3] = call->requested;
  w[4] = (uint64_t)words->result << 8;
  w[5] = words->second;
  w[6] = (uint64_t)call->open_file << 8 | words->flags << 40;
  w[7] = words->first;
  if (units >= kWithDirfdUnits) {
    w[8] = (uint64_t)words->first_base.open_file << 8;
    w[9] = words->second_base.open_file;
  }
  if (units >= kWithDirectoryUnits) {
    w[10] = 0;
    w[11] = words->directory;
  }
  publish(w, lap, (uint32_t)units, call->kind, (uint32_t)call->fd);
}

// The definition of the open file that the call made.
static struct file_record describe_file(const struct stat *status, const struct path_words *words) {
  return (struct file_record){.clock = words->end,
                              .open_file = new_open_file_number(),
                              .origin = MLRUN_ORIGIN_OPENED,
                              .status = status,
                              .path = words->first,
                              .directory = words->first_base.working_directory ? words->directory : 0,
                              .directory_open_file = words->first_base.open_file};
}

void put_path_call(struct path_call *path, uint64_t end, int64_t result, int error, uint64_t flags) {
  struct text first = text_of_argument(path->path, error), second = text_of_argument(path->second, error);
  struct text directory = {0};
  struct path_words words = {.end = end, .flags = flags, .first = first.id, .second = second.id, .result = result};
  words.first_base = base_of(&first, path->call.fd);
  words.second_base = base_of(&second, path->second_dirfd);
  if (words.first_base.working_directory || words.second_base.working_directory)
    directory = path->directory ? *path->directory : text_of_working_directory();
  words.directory = directory.id;

  bool opened = path->opens && result >= 0;
  struct file_record file = {0};
  struct stat status;
  if (opened) {
    stat_descriptor((int)result, &status);
    file = describe_file(&status, &words);
  }
  uint32_t bytes = (uint32_t)units_of(&words.first_base, &words.second_base) * MLRUN_UNIT_BYTES;
  uint8_t lap;
  struct text *const texts[] = {&first, &second, &directory};
  uint64_t *w = reserve_with_texts(texts, 3, bytes + (opened ? kFileRecordBytes : 0), &lap);
  if (w && opened) {
    write_file_record(w, lap, &file);
    w += kFileRecordBytes / 8;
  }
  if (path->opens) {
    path->call.fd = opened ? (int)result : -1;
    path->call.open_file = w ? file.open_file : 0;
    if (opened) fd_set_open_file((int)result, path->call.open_file);
  }
  if (w) write_path_call(w, lap, &path->call, &words);
  text_release(&first);
  text_release(&second);
  if (!path->directory) text_release(&directory);
}

void end_path_call(struct path_call *path, int64_t result) {
  compiler_barrier();
  if (unlikely(!path->call.start)) {
    if (path->opens && result >= 0) fd_set_open_file((int)result, 0);
    return;
  }
  int error = result == -1 ? errno : 0;
  put_path_call(path, now_ticks(), error ? -error : result, error, path->opens ? 0 : MLRUN_CALL_PASSED_FD);
}

void end_unnamed_open(struct path_call *path, int result) {
  compiler_barrier();
  uint64_t end = path->call.start ? now_ticks() : 0;
  int error = result == -1 ? errno : 0;
  fd_set_open_file(result, 0);
  if (unlikely(!path->call.start)) return;
  path->call.fd = result;
  path->call.open_file = open_file_of(result);
  put_path_call(path, end, error ? -error : result, error, 0);
}
