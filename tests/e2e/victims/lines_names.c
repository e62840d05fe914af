// SPDX-License-Identifier: Apache-2.0
// lines_names FOLDER: the lines of hooks/names.def. FOLDER has a file "in" of 25,000 bytes.
#define _GNU_SOURCE
#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

#include "lines.h"

// What programs call that were linked before glibc 2.33, and what <bits/...> calls in programs that are checked.
int __xstat(int, const char *, struct stat *), __xstat64(int, const char *, struct stat64 *);
int __fxstat(int, int, struct stat *), __fxstat64(int, int, struct stat64 *);
int __lxstat(int, const char *, struct stat *), __lxstat64(int, const char *, struct stat64 *);
int __fxstatat(int, int, const char *, struct stat *, int), __fxstatat64(int, int, const char *, struct stat64 *, int);
int __xmknod(int, const char *, mode_t, dev_t *), __xmknodat(int, int, const char *, mode_t, dev_t *);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
char *__realpath_chk(const char *, char *, size_t);
int __statfs(const char *, struct statfs *), __close(int), __open(const char *, int, ...);
int __open64(const char *, int, ...), __open_2(const char *, int), __open64_2(const char *, int);
int __openat_2(int, const char *, int), __openat64_2(int, const char *, int);
enum { kVersion = 1, kNodeVersion = 0 };

static char bytes[8192];
static int in, out, top;

static bool closes(int fd) { return fd >= 0 && syscall(SYS_close, fd) == 0; }
static bool made(const char *name) { return syscall(SYS_unlink, name) == 0; }
static bool made_folder(const char *name) { return syscall(SYS_rmdir, name) == 0; }
static int make(const char *name) { return (int)syscall(SYS_mknod, name, S_IFREG | 0600, 0); }

static void status(void) {
  struct stat s;
  struct stat64 s64;
  struct statx wide;
  LINE(stat, 2, stat("in", &s) == 0);
  LINE(stat64, 2, stat64("in", &s64) == 0);
  LINE(__xstat, 2, __xstat(kVersion, "in", &s) == 0);
  LINE(__xstat64, 2, __xstat64(kVersion, "in", &s64) == 0);
  LINE(fstat, 2, fstat(in, &s) == 0);
  LINE(fstat64, 2, fstat64(in, &s64) == 0);
  LINE(__fxstat, 2, __fxstat(kVersion, in, &s) == 0);
  LINE(__fxstat64, 2, __fxstat64(kVersion, in, &s64) == 0);
  LINE(lstat, 2, lstat("in", &s) == 0);
  LINE(lstat64, 2, lstat64("in", &s64) == 0);
  LINE(__lxstat, 2, __lxstat(kVersion, "in", &s) == 0);
  LINE(__lxstat64, 2, __lxstat64(kVersion, "in", &s64) == 0);
  LINE(fstatat, 2, fstatat(top, "in", &s, 0) == 0);
  LINE(fstatat64, 2, fstatat64(top, "in", &s64, 0) == 0);
  LINE(__fxstatat, 2, __fxstatat(kVersion, top, "in", &s, 0) == 0);
  LINE(__fxstatat64, 2, __fxstatat64(kVersion, top, "in", &s64, 0) == 0);
  LINE(statx, 2, statx(top, "in", 0, STATX_SIZE, &wide) == 0);
}

static void systems(void) {
  struct statfs f;
  struct statfs64 f64;
  struct statvfs v;
  struct statvfs64 v64;
  LINE(statfs, 2, statfs("in", &f) == 0);
  LINE(statfs64, 2, statfs64("in", &f64) == 0);
  LINE(__statfs, 2, __statfs("in", &f) == 0);
  LINE(fstatfs, 2, fstatfs(in, &f) == 0);
  LINE(fstatfs64, 2, fstatfs64(in, &f64) == 0);
  LINE(statvfs, 2, statvfs("in", &v) == 0);
  LINE(statvfs64, 2, statvfs64("in", &v64) == 0);
  LINE(fstatvfs, 2, fstatvfs(in, &v) == 0);
  LINE(fstatvfs64, 2, fstatvfs64(in, &v64) == 0);
}

static void come_and_go(void) {
  LINE(unlink, 2, make("f") == 0 && unlink("f") == 0);
  LINE(unlinkat, 2, make("f") == 0 && unlinkat(top, "f", 0) == 0);
  LINE(rename, 2, make("f") == 0 && rename("f", "g") == 0);
  LINE(renameat, 2, make("f") == 0 && renameat(top, "f", top, "g") == 0);
  LINE(renameat2, 2, make("f") == 0 && renameat2(top, "f", top, "g", 0) == 0);
  LINE(remove, 2, make("f") == 0 && remove("f") == 0);
  LINE(mkdir, 2, mkdir("d", 0700) == 0 && made_folder("d"));
  LINE(mkdirat, 2, mkdirat(top, "d", 0700) == 0 && made_folder("d"));
  LINE(rmdir, 2, syscall(SYS_mkdir, "d", 0700) == 0 && rmdir("d") == 0);
  LINE(ftruncate, 2, ftruncate(out, 100) == 0);
  LINE(ftruncate64, 2, ftruncate64(out, 100) == 0);
  LINE(chdir, 2, chdir(".") == 0);
  LINE(fchdir, 2, fchdir(top) == 0);
  LINE(chroot, 2, chroot("missing") == -1);
  LINE(link, 2, link("in", "l") == 0 && made("l"));
  LINE(linkat, 2, linkat(top, "in", top, "l", 0) == 0 && made("l"));
  LINE(symlink, 2, symlink("in", "l") == 0 && made("l"));
  LINE(symlinkat, 2, symlinkat("in", top, "l") == 0 && made("l"));
  dev_t none = 0;
  LINE(mknod, 2, mknod("p", S_IFREG | 0600, 0) == 0 && made("p"));
  LINE(__xmknod, 2, __xmknod(kNodeVersion, "p", S_IFREG | 0600, &none) == 0 && made("p"));
  LINE(mknodat, 2, mknodat(top, "p", S_IFREG | 0600, 0) == 0 && made("p"));
  LINE(__xmknodat, 2, __xmknodat(kNodeVersion, top, "p", S_IFREG | 0600, &none) == 0 && made("p"));
  LINE(mkfifo, 2, mkfifo("p", 0600) == 0 && made("p"));
  LINE(mkfifoat, 2, mkfifoat(top, "p", 0600) == 0 && made("p"));
  LINE(mkdtemp, 2, made_folder(mkdtemp(strcpy(bytes, "dXXXXXX"))));
}

static void answers(void) {
  syscall(SYS_symlink, "in", "to_in");
  LINE(access, 2, access("in", R_OK) == 0);
  LINE(faccessat, 2, faccessat(top, "in", R_OK, 0) == 0);
  LINE(euidaccess, 2, euidaccess("in", R_OK) == 0);
  LINE(eaccess, 2, eaccess("in", R_OK) == 0);
  LINE(readlink, 2, readlink("to_in", bytes, 99) == 2);
  LINE(__readlink_chk, 2, __readlink_chk("to_in", bytes, 99, sizeof bytes) == 2);
  LINE(readlinkat, 2, readlinkat(top, "to_in", bytes, 99) == 2);
  LINE(__readlinkat_chk, 2, __readlinkat_chk(top, "to_in", bytes, 99, sizeof bytes) == 2);
  LINE(realpath, 2, realpath("to_in", bytes) == bytes);
  LINE(__realpath_chk, 2, __realpath_chk("to_in", bytes, sizeof bytes) == bytes);
  LINE(canonicalize_file_name, 2, (free(canonicalize_file_name("to_in")), true));
  LINE(chmod, 2, chmod("out", 0600) == 0);
  LINE(lchmod, 2, lchmod("out", 0600) == 0);
  LINE(fchmod, 2, fchmod(out, 0600) == 0);
  LINE(fchmodat, 2, fchmodat(top, "out", 0600, 0) == 0);
  LINE(chown, 2, chown("out", (uid_t)-1, (gid_t)-1) == 0);
  LINE(lchown, 2, lchown("out", (uid_t)-1, (gid_t)-1) == 0);
  LINE(fchown, 2, fchown(out, (uid_t)-1, (gid_t)-1) == 0);
  LINE(fchownat, 2, fchownat(top, "out", (uid_t)-1, (gid_t)-1, 0) == 0);
}

static void times(void) {
  struct utimbuf old = {5, 6};
  struct timeval two[2] = {{1, 2}, {3, 4}};
  struct timespec fine[2] = {{1, 2}, {3, 4}};
  LINE(utime, 2, utime("out", &old) == 0);
  LINE(utimes, 2, utimes("out", two) == 0);
  LINE(lutimes, 2, lutimes("out", two) == 0);
  LINE(futimes, 2, futimes(out, two) == 0);
  LINE(futimesat, 2, futimesat(top, "out", two) == 0);
  LINE(utimensat, 2, utimensat(top, "out", fine, 0) == 0);
  LINE(futimens, 2, futimens(out, fine) == 0);
}

// A file system may have none of these, which is an answer too.
static bool answered(ssize_t result) { return result >= 0 || errno == ENOTSUP || errno == ENODATA; }

static void attributes(void) {
  LINE(setxattr, 2, answered(setxattr("out", "user.a", "1", 1, 0)));
  LINE(lsetxattr, 2, answered(lsetxattr("out", "user.b", "1", 1, 0)));
  LINE(fsetxattr, 2, answered(fsetxattr(out, "user.c", "1", 1, 0)));
  LINE(getxattr, 2, answered(getxattr("out", "user.a", bytes, 50)));
  LINE(lgetxattr, 2, answered(lgetxattr("out", "user.b", bytes, 50)));
  LINE(fgetxattr, 2, answered(fgetxattr(out, "user.c", bytes, 50)));
  LINE(listxattr, 2, answered(listxattr("out", bytes, 99)));
  LINE(llistxattr, 2, answered(llistxattr("out", bytes, 99)));
  LINE(flistxattr, 2, answered(flistxattr(out, bytes, 99)));
  LINE(removexattr, 2, answered(removexattr("out", "user.a")));
  LINE(lremovexattr, 2, answered(lremovexattr("out", "user.b")));
  LINE(fremovexattr, 2, answered(fremovexattr(out, "user.c")));
}

static void opens(void) {
  struct file_handle *handle = (struct file_handle *)bytes;
  int mount;
  LINE(open, 2, closes(open("in", O_RDONLY)));
  LINE(open64, 2, closes(open64("in", O_RDONLY)));
  LINE(__open, 2, closes(__open("in", O_RDONLY)));
  LINE(__open64, 2, closes(__open64("in", O_RDONLY)));
  LINE(__open_2, 2, closes(__open_2("in", O_RDONLY)));
  LINE(__open64_2, 2, closes(__open64_2("in", O_RDONLY)));
  LINE(openat, 2, closes(openat(top, "in", O_RDONLY)));
  LINE(openat64, 2, closes(openat64(top, "in", O_RDONLY)));
  LINE(__openat_2, 2, closes(__openat_2(top, "in", O_RDONLY)));
  LINE(__openat64_2, 2, closes(__openat64_2(top, "in", O_RDONLY)));
  LINE(creat, 2, closes(creat("c", 0600)));
  LINE(creat64, 2, closes(creat64("c", 0600)));
  LINE(close, 2, close((int)syscall(SYS_dup, in)) == 0);
  LINE(__close, 2, __close((int)syscall(SYS_dup, in)) == 0);
  LINE(close_range, 2, close_range(500, 510, 0) == 0);
  LINE(closefrom, 2, (closefrom(500), true));
  handle->handle_bytes = 128;
  LINE(name_to_handle_at, 2, name_to_handle_at(top, "in", handle, &mount, 0) == 0 || errno == EOPNOTSUPP);
  LINE(open_by_handle_at, 2,
       closes(open_by_handle_at(top, handle, O_RDONLY)) || errno == EPERM || errno == ESTALE || errno == EINVAL);
}

// Freshly opened, so that the next entry is a refill.
static DIR *fresh(DIR *folder) {
  rewinddir(folder);
  return folder;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void folders(void) {
  struct dirent entry, *found;
  struct dirent64 entry64, *found64;
  off_t base = 0;
  LINE(opendir, 2, closes(dirfd(opendir("."))));
  LINE(fdopendir, 2, fdopendir((int)syscall(SYS_openat, top, ".", O_RDONLY | O_DIRECTORY)) != NULL);
  LINE(closedir, 2, closedir(opendir(".")) == 0);
  DIR *folder = opendir(".");
  LINE(readdir, 2, readdir(fresh(folder)) != NULL);
  LINE(readdir64, 2, readdir64(fresh(folder)) != NULL);
  LINE(readdir_r, 2, readdir_r(fresh(folder), &entry, &found) == 0);
  LINE(readdir64_r, 2, readdir64_r(fresh(folder), &entry64, &found64) == 0);
  int fd = dirfd(folder);
  LINE(getdents64, 2, syscall(SYS_lseek, fd, 0, SEEK_SET) == 0 && getdents64(fd, bytes, 4096) > 0);
  LINE(getdirentries, 2, syscall(SYS_lseek, fd, 0, SEEK_SET) == 0 && getdirentries(fd, bytes, 4096, &base) > 0);
  LINE(getdirentries64, 2, syscall(SYS_lseek, fd, 0, SEEK_SET) == 0 && getdirentries64(fd, bytes, 4096, &base) > 0);
}

static void walks(void) {
  struct dirent **list;
  struct dirent64 **list64;
  glob_t names;
  glob64_t names64;
  LINE(scandir, 2, scandir(".", &list, NULL, alphasort) > 0);
  LINE(scandir64, 2, scandir64(".", &list64, NULL, alphasort64) > 0);
  LINE(scandirat, 2, scandirat(top, ".", &list, NULL, alphasort) > 0);
  LINE(scandirat64, 2, scandirat64(top, ".", &list64, NULL, alphasort64) > 0);
  LINE(glob, 2, glob("i*", 0, NULL, &names) == 0);
  LINE(glob64, 2, glob64("i*", 0, NULL, &names64) == 0);
}

static int found;
static int finds(const char *path, const struct stat *s, int kind, struct FTW *place) {
  return (void)path, (void)s, (void)kind, (void)place, found++, 0;
}
static int finds64(const char *path, const struct stat64 *s, int kind, struct FTW *place) {
  return (void)path, (void)s, (void)kind, (void)place, found++, 0;
}
static int finds_plain(const char *path, const struct stat *s, int kind) {
  return (void)path, (void)s, (void)kind, found++, 0;
}
static int finds_plain64(const char *path, const struct stat64 *s, int kind) {
  return (void)path, (void)s, (void)kind, found++, 0;
}

// These functions leave no rows; the test checks only that they succeed.
static void steps(void) {
  char *tops[] = {(char[]){"."}, NULL};
  FTS *walk = NULL;
  FTS64 *walk64 = NULL;
  UNRECORDED(ftw, ftw(".", finds_plain, 4) == 0 && found > 1);
  UNRECORDED(ftw64, ftw64(".", finds_plain64, 4) == 0);
  UNRECORDED(nftw, nftw(".", finds, 4, FTW_CHDIR) == 0 && found > 1);
  UNRECORDED(nftw64, nftw64(".", finds64, 4, FTW_CHDIR) == 0);
  UNRECORDED(fts_open, (walk = fts_open(tops, FTS_PHYSICAL, NULL)) != NULL);
  UNRECORDED(fts_read, fts_read(walk) != NULL);
  UNRECORDED(fts_children, fts_children(walk, 0) != NULL);
  UNRECORDED(fts_close, fts_close(walk) == 0);
  UNRECORDED(fts64_open, (walk64 = fts64_open(tops, FTS_PHYSICAL, NULL)) != NULL);
  UNRECORDED(fts64_read, fts64_read(walk64) != NULL);
  UNRECORDED(fts64_children, fts64_children(walk64, 0) != NULL);
  UNRECORDED(fts64_close, fts64_close(walk64) == 0);
}

static void shared(void) {
  LINE(shm_open, 2, closes(shm_open("/mlrun-lines", O_CREAT | O_RDWR, 0600)));
  LINE(shm_unlink, 1, shm_unlink("/mlrun-lines") == 0);
  LINE(sem_open, 2, sem_open("/mlrun-lines", O_CREAT, 0600, 1) != SEM_FAILED);
  LINE(sem_unlink, 1, sem_unlink("/mlrun-lines") == 0);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  in = open("in", O_RDONLY), out = open("out", O_CREAT | O_RDWR, 0600), top = open(".", O_RDONLY | O_DIRECTORY);
  status(), systems(), come_and_go(), answers(), times(), attributes(), opens(), folders(), walks(), steps(), shared();
  return 0;
}
