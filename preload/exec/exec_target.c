// SPDX-License-Identifier: Apache-2.0
#include "preload/exec/exec_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/raw_syscall.h"
#include "preload/base/scratch.h"
#include "preload/core/recorder.h"

enum { kScriptsInARow = 5 };

// Opens the program. The path may point anywhere, so it is read here only after the kernel has read it.
static long open_program(int dirfd, const char *path) {
  long fd = raw_syscall4(SYS_openat, dirfd, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  bool is_dirfd = fd == -ENOENT && dirfd != AT_FDCWD && !*path;
  return is_dirfd ? raw_syscall3(SYS_fcntl, dirfd, F_DUPFD_CLOEXEC, 0) : fd;
}

static bool read_head(long fd, struct file_head *head) {
  long bytes = raw_syscall4(SYS_pread64, fd, (long)head->text, kHeadBytes, 0);
  head->bytes = bytes > 0 ? (size_t)bytes : 0;
  head->text[head->bytes] = 0;
  return bytes > 0;
}

// Cuts the interpreter's name out of a script's first line, in place. Null: it is no script.
static char *interpreter_of_script(struct file_head *head) {
  if (head->text[0] != '#' || head->text[1] != '!') return NULL;
  char *name = head->text + 2 + strspn(head->text + 2, " \t");
  name[strcspn(name, " \t\n")] = 0;
  return *name ? name : NULL;
}

_Static_assert(sizeof(struct file_head) <= kScratchBytes, "a page holds it");

// Examines the program at `fd`, or the interpreter if it is a script. Closes `fd`.
static void judge(long fd, struct file_head *head, struct exec_target *target) {
  for (int scripts = 0; scripts < kScriptsInARow && fd >= 0; scripts++) {
    bool readable = read_head(fd, head);
    bool elf = readable && !memcmp(head->text, ELFMAG, SELFMAG);
    if (elf) target->verdict = judge_elf(fd, head, target->runtime);
    raw_syscall1(SYS_close, fd);
    const char *interpreter = readable && !elf ? interpreter_of_script(head) : NULL;
    if (!interpreter) return;
    fd = open_program(AT_FDCWD, interpreter);
  }
  if (fd >= 0) raw_syscall1(SYS_close, fd);
}

static bool is_executable(const char *path) { return raw_syscall3(SYS_faccessat, AT_FDCWD, (long)path, X_OK) == 0; }

// As libc's execvp sees it: a program may have a getenv of its own.
static const char *search_path(void) {
  static const char name[] = "PATH=";
  for (char **entry = __environ; entry && *entry; entry++)
    if (!strncmp(*entry, name, sizeof name - 1)) return *entry + sizeof name - 1;
  return "/bin:/usr/bin";
}

// Opens the first executable of that name in PATH; *found: its path, to be given back. -ENOENT: there is none.
static long open_in_path(const char *name, char **found) {
  const char *directories = search_path();
  char *candidate = scratch_take();
  long fd = candidate ? -ENOENT : -EAGAIN;
  size_t length, name_bytes = strlen(name) + 1;
  for (const char *at = directories; candidate && fd < 0; at += length + 1) {
    length = strcspn(at, ":");
    if (length + 1 + name_bytes <= kScratchBytes) {
      memcpy(candidate, at, length);
      candidate[length] = '/';
      memcpy(candidate + length + (length != 0), name, name_bytes);
      if (is_executable(candidate)) fd = open_program(AT_FDCWD, candidate);
    }
    if (!at[length]) break;
  }
  if (fd < 0) {
    scratch_give(candidate);
    candidate = NULL;
  }
  *found = candidate;
  return fd;
}

struct exec_target exec_target_of(int dirfd, const char *path, bool search) {
  if (!recording_system_calls_allowed()) return (struct exec_target){.verdict = MLRUN_EXEC_UNREACHABLE};
  bool in_path = search && !strchr(path, '/');
  char *found = NULL;
  long fd = in_path ? open_in_path(path, &found) : open_program(dirfd, path);
  if (fd < 0) return (struct exec_target){.verdict = MLRUN_EXEC_UNKNOWN, .error = (int)-fd};
  struct exec_target target = {.verdict = MLRUN_EXEC_UNKNOWN, .found = found};
  struct file_head *head = (struct file_head *)(void *)scratch_take();
  if (head)
    judge(fd, head, &target);
  else
    raw_syscall1(SYS_close, fd);
  scratch_give((char *)head);
  return target;
}
