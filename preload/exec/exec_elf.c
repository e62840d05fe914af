// SPDX-License-Identifier: Apache-2.0
#include "preload/exec/exec_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "preload/base/next_symbol.h"
#include "preload/base/raw_syscall.h"
#include "preload/record/channel.h"

enum { kNeededToLookAt = 3 };

struct program_headers {
  const Elf64_Phdr *first;
  size_t count;
};

// The program headers of the file; none unless all of them are within the part that was read.
static struct program_headers headers_of(const struct file_head *head) {
  size_t from = head->elf.e_phoff, count = head->elf.e_phnum;
  bool whole = head->elf.e_phentsize == sizeof(Elf64_Phdr) && from <= head->bytes && from % 8 == 0 &&
               count <= (head->bytes - from) / sizeof(Elf64_Phdr);
  if (!whole) return (struct program_headers){0};
  return (struct program_headers){(const Elf64_Phdr *)(const void *)(head->text + from), count};
}

static const Elf64_Phdr *find_header(struct program_headers headers, uint32_t type) {
  for (size_t i = 0; i < headers.count; i++)
    if (headers.first[i].p_type == type) return &headers.first[i];
  return NULL;
}

static uint64_t file_offset(struct program_headers headers, uint64_t address) {
  for (size_t i = 0; i < headers.count; i++) {
    const Elf64_Phdr *h = &headers.first[i];
    if (h->p_type == PT_LOAD && address - h->p_vaddr < h->p_filesz) return address - h->p_vaddr + h->p_offset;
  }
  return 0;
}

static void read_text(long fd, uint64_t offset, char *text, size_t room) {
  long bytes = raw_syscall4(SYS_pread64, fd, (long)text, (long)room - 1, (long)offset);
  text[bytes > 0 ? bytes : 0] = 0;
}

bool is_sanitizer_runtime(const char *name) {
  static const char *const runtimes[] = {"libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt."};
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
    if (!strncmp(name, runtimes[i], strlen(runtimes[i]))) return true;
  return false;
}

// Compilers put the runtime first among the libraries that a program needs.
static void find_runtime(long fd, struct file_head *head, struct program_headers headers, char *name) {
  const Elf64_Phdr *dynamic = find_header(headers, PT_DYNAMIC);
  Elf64_Dyn *entries = head->dynamic;
  name[0] = 0;
  if (!dynamic) return;
  size_t room = dynamic->p_filesz < sizeof head->dynamic ? dynamic->p_filesz : sizeof head->dynamic;
  long bytes = raw_syscall4(SYS_pread64, fd, (long)entries, (long)room, (long)dynamic->p_offset);
  size_t count = bytes > 0 ? (size_t)bytes / sizeof *entries : 0;
  uint64_t strings = 0;
  for (size_t i = 0; i < count; i++)
    if (entries[i].d_tag == DT_STRTAB) strings = file_offset(headers, entries[i].d_un.d_ptr);
  for (size_t i = 0, seen = 0; strings && i < count && seen < kNeededToLookAt; i++) {
    if (entries[i].d_tag != DT_NEEDED) continue;
    read_text(fd, strings + entries[i].d_un.d_val, name, kRuntimeNameBytes);
    if (is_sanitizer_runtime(name)) return;
    seen++;
  }
  name[0] = 0;
}

// Whether the file gives its process other rights than ours (setuid, setgid, capabilities). Then ld.so ignores
// LD_PRELOAD.
static bool raises_rights(long fd) {
  struct stat status;
  struct statfs file_system;
  if (raw_syscall2(SYS_fstat, fd, (long)&status)) return false;
  uid_t uid = (uid_t)raw_syscall0(SYS_getuid);
  bool other_user = status.st_mode & S_ISUID && status.st_uid != uid;
  bool other_group =
      (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status.st_gid != (gid_t)raw_syscall0(SYS_getgid);
  bool capable = uid && raw_syscall4(SYS_fgetxattr, fd, (long)"security.capability", 0, 0) > 0;
  if (!other_user && !other_group && !capable) return false;
  bool ignored = raw_syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1 ||
                 (!raw_syscall2(SYS_fstatfs, fd, (long)&file_system) && file_system.f_flags & ST_NOSUID);
  return !ignored;
}

// Opens the file to find out: not only its mode can deny access, but also Landlock and other security modules.
static bool can_be_opened(const char *path, long flags) {
  long fd = raw_syscall4(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0);
  if (fd >= 0) raw_syscall1(SYS_close, fd);
  return fd >= 0 || fd == -EMFILE || fd == -ENFILE;
}

// Whether the new program will be able to map the arena: this process may have changed its user or its root folder. That
// this process can open it is not enough: capabilities that override the file's mode end at exec.
static bool reaches_arena(void) {
  struct stat status;
  if (!process.arena_path) return true;
  if (!can_be_opened(process.arena_path, O_RDWR)) return false;
  uid_t uid = (uid_t)raw_syscall0(SYS_geteuid);
  return !uid || raw_syscall2(SYS_stat, (long)process.arena_path, (long)&status) || status.st_uid == uid;
}

enum mlrun_exec_target judge_elf(long fd, struct file_head *head, char *runtime) {
  const Elf64_Ehdr *elf = &head->elf;
  runtime[0] = 0;
  if (head->bytes < sizeof *elf) return MLRUN_EXEC_FOREIGN;
  if (elf->e_ident[EI_CLASS] != ELFCLASS64)
    return elf->e_machine == EM_386 || elf->e_machine == EM_X86_64 ? MLRUN_EXEC_32_BIT : MLRUN_EXEC_FOREIGN;
  if (elf->e_machine != EM_X86_64) return MLRUN_EXEC_FOREIGN;
  struct program_headers headers = headers_of(head);
  if (!headers.count) return MLRUN_EXEC_UNKNOWN;
  const Elf64_Phdr *interpreter = find_header(headers, PT_INTERP);
  if (!interpreter) return MLRUN_EXEC_STATIC;
  read_text(fd, interpreter->p_offset, head->linker, sizeof head->linker);
  if (!strstr(head->linker, "/ld-linux")) return MLRUN_EXEC_OTHER_LIBC;  // which cannot load us
  if (!can_be_opened(own_library_path(), O_RDONLY) || !reaches_arena()) return MLRUN_EXEC_UNREACHABLE;
  find_runtime(fd, head, headers, runtime);
  return raises_rights(fd) ? MLRUN_EXEC_RAISED : MLRUN_EXEC_TRACED;
}
