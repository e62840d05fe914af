// SPDX-License-Identifier: Apache-2.0
#include "preload/files/path_rules.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/glob.h"
#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/core/recorder.h"
#include "preload/record/channel.h"
#include "preload/record/process_record.h"
#include "preload/record/strings.h"
#include "runner/events/call_class.h"
#include "runner/events/path_rules.h"

HOT_CALL bool path_rules_on;
static char rules[MLRUN_RULES_BYTES + 1];
static size_t rules_bytes;
static bool any_include;

void path_rules_load(const char *from, size_t bytes) {
  if (bytes > MLRUN_RULES_BYTES) return;
  memcpy(rules, from, bytes);
  rules_bytes = bytes;
  for (size_t at = 0; at < bytes; at += strlen(rules + at) + 1) any_include |= rules[at] == MLRUN_RULE_INCLUDE;
  path_rules_on = bytes != 0;
}

static bool is_wanted(const char *path, size_t bytes) {
  bool wanted = !any_include;
  for (size_t at = 0; at < rules_bytes; at += strlen(rules + at) + 1) {
    bool includes = rules[at] == MLRUN_RULE_INCLUDE;
    if ((includes && wanted) || !glob_matches(rules + at + 1, path, bytes)) continue;
    if (!includes) return false;
    wanted = true;
  }
  return wanted;
}

bool name_is_wanted(const struct text *name) {
  static const char deleted[] = " (deleted)";
  enum { kDeleted = sizeof deleted - 1 };
  size_t bytes = name->bytes;
  if (!name->at) return true;
  if (bytes > kDeleted && !memcmp(name->at + bytes - kDeleted, deleted, kDeleted)) bytes -= kDeleted;
  return is_wanted(name->at, bytes);
}

bool descriptor_is_wanted(int fd) {
  if (!recording_system_calls_allowed()) return true;
  struct text name = text_of_descriptor(fd);
  bool wanted = name_is_wanted(&name);
  text_release(&name);
  return wanted;
}

// Appends the components of a path to `out`, an absolute path that ends without a slash ("" is the root). What does not
// fit is cut off.
static size_t add_parts(char *out, size_t length, const char *path, size_t bytes) {
  for (size_t at = 0, end; at < bytes; at = end + 1) {
    for (end = at; end < bytes && path[end] != '/'; end++) continue;
    size_t part = end - at;
    if (part == 2 && path[at] == '.' && path[at + 1] == '.') {
      while (length && out[--length] != '/') continue;
      continue;
    }
    if (!part || (part == 1 && path[at] == '.')) continue;
    if (length + 1 + part > kScratchBytes) return length;
    out[length++] = '/';
    memcpy(out + length, path + at, part);
    length += part;
  }
  return length;
}

// The directory that a relative path starts at. The caller releases the text.
static struct text directory_of(int dirfd) {
  struct text text = {0};
  if (!recording_system_calls_allowed()) return text;
  if (dirfd != AT_FDCWD) return text_of_descriptor(dirfd);
  if (!(text.page = scratch_take())) return text;
  long bytes = raw_syscall2(SYS_getcwd, (long)text.page, kScratchBytes);  // with the 0 at its end
  if (bytes <= 1) return text;
  text.at = text.page;
  text.bytes = (size_t)bytes - 1;
  return text;
}

// The absolute path, as a text without an id. All zero: unknown.
static struct text absolute_path(const struct text *path, int dirfd) {
  struct text directory = {0}, absolute = {0};
  bool relative = text_is_relative(path);
  if (relative) directory = directory_of(dirfd);
  bool known = path->id && (!relative || (directory.at && directory.at[0] == '/'));
  if (known && (absolute.page = scratch_take())) {
    absolute.at = absolute.page;
    absolute.bytes = add_parts(absolute.page, 0, directory.at, directory.bytes);
    absolute.bytes = add_parts(absolute.page, absolute.bytes, path->at, path->bytes);
    if (!absolute.bytes) absolute.page[absolute.bytes++] = '/';
  } else if (path->id && !path->bytes && directory.at) {  // AT_EMPTY_PATH on a pipe or a socket
    absolute = directory;
    directory.page = 0;
  }
  text_release(&directory);
  return absolute;
}

bool path_is_wanted(const struct text *path, int dirfd) {
  struct text absolute = absolute_path(path, dirfd);
  bool wanted = name_is_wanted(&absolute);
  text_release(&absolute);
  return wanted;
}

struct text text_of_absolute_path(const struct text *path, int dirfd) {
  struct text absolute = absolute_path(path, dirfd);
  if (absolute.at) absolute.id = string_prepare(absolute.at, absolute.bytes, &absolute.definition_bytes);
  return absolute;
}

// 1 + enum mlrun_call_class by function number.
static const uint8_t classes[] = {
#define FUNCTION(number, name, class, ...) [number] = 1 + MLRUN_CLASS_##class,
#define HANDMADE(number, name, class)      [number] = 1 + MLRUN_CLASS_##class,
#define ROW(number, name, class)           [number] = 1 + MLRUN_CLASS_##class,
#include "runner/events/hooks.def"
};

void count_left_out(uint32_t kind, uint64_t ticks, int64_t result) {
  if (!may_record() || (!this_thread.channel && !register_thread(kind))) return;
  if (!process.wiped->announced) process_record_write();
  struct mlrun_left_out *sums = &this_thread.channel->left_out;
  uint32_t number = kind - MLRUN_CALL;
  uint8_t class = number < sizeof classes ? classes[number] : 0;
  count_local(&sums->calls);
  add_local(&sums->time, ticks);
  if (result <= 0) return;
  bool copies = class == 1 + MLRUN_CLASS_COPY;
  if (copies || class == 1 + MLRUN_CLASS_READ) add_local(&sums->bytes_read, (uint64_t)result);
  if (copies || class == 1 + MLRUN_CLASS_WRITE) add_local(&sums->bytes_written, (uint64_t)result);
}
