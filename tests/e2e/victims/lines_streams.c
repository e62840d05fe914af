// SPDX-License-Identifier: Apache-2.0
// lines_streams FOLDER: the lines of hooks/streams.def. FOLDER has a file "in" of 25,000 bytes, lines of ten. Streams
// that are read and written have no buffer, so that each call reaches the kernel; writes to stdout are not checked.
#define _GNU_SOURCE
#include <stdarg.h>

#include "lines.h"

size_t __fread_chk(void *, size_t, size_t, size_t, FILE *),
    __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *), *__fgets_unlocked_chk(char *, size_t, int, FILE *);
ssize_t __getdelim(char **, size_t *, int, FILE *);
int __fprintf_chk(FILE *, int, const char *, ...), __vfprintf_chk(FILE *, int, const char *, va_list);
int __printf_chk(int, const char *, ...), __vprintf_chk(int, const char *, va_list);
int __dprintf_chk(int, int, const char *, ...), __vdprintf_chk(int, int, const char *, va_list);

static char bytes[4096];
static FILE *in, *out, *far;
static int fd;

static FILE *without_buffer(FILE *stream) {
  if (!stream || setvbuf(stream, NULL, _IONBF, 0)) fails("setvbuf", 0);
  return stream;
}

// A compiler makes __getdelim of a call that it sees.
static ssize_t (*volatile line_of)(char **, size_t *, FILE *) = getline;

static void reads(void) {
  char *line = NULL;
  size_t room = 0;
  LINE(fread, 2, fread(bytes, 1, 10, in) == 10);
  LINE(fread_unlocked, 2, fread_unlocked(bytes, 1, 10, in) == 10);
  LINE(__fread_chk, 2, __fread_chk(bytes, sizeof bytes, 1, 10, in) == 10);
  LINE(__fread_unlocked_chk, 2, __fread_unlocked_chk(bytes, sizeof bytes, 1, 10, in) == 10);
  LINE(fgets, 2, fgets(bytes, 10, in) == bytes);
  LINE(fgets_unlocked, 2, fgets_unlocked(bytes, 10, in) == bytes);
  LINE(__fgets_chk, 2, __fgets_chk(bytes, sizeof bytes, 10, in) == bytes);
  LINE(__fgets_unlocked_chk, 2, __fgets_unlocked_chk(bytes, sizeof bytes, 10, in) == bytes);
  FILE *zeros = without_buffer(fopen("/dev/zero", "r"));  // as text they are of no length
  LINE(fgets, 2, fgets(bytes, 10, zeros) == bytes);
  LINE(__fgets_chk, 2, __fgets_chk(bytes, sizeof bytes, 10, zeros) == bytes);
  LINE(getdelim, 2, getdelim(&line, &room, '\n', in) > 0);
  LINE(__getdelim, 2, __getdelim(&line, &room, '\n', in) > 0);
  LINE(getline, 2, line_of(&line, &room, in) > 0);
}

static int vprints(int (*print)(const char *, va_list), const char *format, ...) {
  va_list given;
  va_start(given, format);
  int printed = print(format, given);
  va_end(given);
  return printed;
}
static int vprints_to(int (*print)(FILE *, const char *, va_list), const char *format, ...) {
  va_list given;
  va_start(given, format);
  int printed = print(out, format, given);
  va_end(given);
  return printed;
}
static int vprints_fd(int (*print)(int, const char *, va_list), const char *format, ...) {
  va_list given;
  va_start(given, format);
  int printed = print(fd, format, given);
  va_end(given);
  return printed;
}
static int checked_vprintf(const char *format, va_list given) { return __vprintf_chk(1, format, given); }
static int checked_vfprintf(FILE *to, const char *format, va_list given) {
  return __vfprintf_chk(to, 1, format, given);
}
static int checked_vdprintf(int to, const char *format, va_list given) { return __vdprintf_chk(to, 1, format, given); }

static void writes(void) {
  LINE(fwrite, 2, fwrite(bytes, 1, 10, out) == 10);
  LINE(fwrite_unlocked, 2, fwrite_unlocked(bytes, 1, 10, out) == 10);
  LINE(fputs, 2, fputs("text", out) >= 0);
  LINE(fputs_unlocked, 2, fputs_unlocked("text", out) >= 0);
  LINE(puts, 2, puts("text") >= 0);
}

static void prints(void) {
  LINE(fprintf, 2, fprintf(out, "%d.", n) == 2);
  LINE(vfprintf, 2, vprints_to(vfprintf, "%d.", n) == 2);
  LINE(printf, 2, printf("%d.", n) == 2);
  LINE(vprintf, 2, vprints(vprintf, "%d.", n) == 2);
  LINE(__fprintf_chk, 2, __fprintf_chk(out, 1, "%d.", n) == 2);
  LINE(__vfprintf_chk, 2, vprints_to(checked_vfprintf, "%d.", n) == 2);
  LINE(__printf_chk, 2, __printf_chk(1, "%d.", n) == 2);
  LINE(__vprintf_chk, 2, vprints(checked_vprintf, "%d.", n) == 2);
  LINE(dprintf, 2, dprintf(fd, "%d.", n) == 2);
  LINE(vdprintf, 2, vprints_fd(vdprintf, "%d.", n) == 2);
  LINE(__dprintf_chk, 2, __dprintf_chk(fd, 1, "%d.", n) == 2);
  LINE(__vdprintf_chk, 2, vprints_fd(checked_vdprintf, "%d.", n) == 2);
}

static void opens(void) {
  FILE *streams[6], *pipes[2];
  LINE(fopen, 2, (streams[n] = fopen("in", "r")) != NULL);
  LINE(fopen64, 2, (streams[2 + n] = fopen64("in", "r")) != NULL);
  LINE(freopen, 2, freopen("in", "r", streams[n]) == streams[n]);
  LINE(freopen64, 2, freopen64("in", "r", streams[n]) == streams[n]);
  LINE(fdopen, 2, (streams[4 + n] = fdopen((int)syscall(SYS_dup, fd), "w")) != NULL);
  LINE(fclose, 6, fclose(streams[n]) == 0);
  LINE(tmpfile, 2, tmpfile() != NULL);
  LINE(tmpfile64, 2, tmpfile64() != NULL);
  for (int i = 0; i < 2; i++) pipes[i] = popen("exit 0", "r");
  LINE(pclose, 2, pclose(pipes[n]) == 0);
}

static bool named(int file) { return file >= 0 && syscall(SYS_close, file) == 0 && syscall(SYS_unlink, bytes) == 0; }

static void names(void) {
  LINE(mkstemp, 2, named(mkstemp(strcpy(bytes, "tXXXXXX"))));
  LINE(mkstemp64, 2, named(mkstemp64(strcpy(bytes, "tXXXXXX"))));
  LINE(mkostemp, 2, named(mkostemp(strcpy(bytes, "tXXXXXX"), O_CLOEXEC)));
  LINE(mkostemp64, 2, named(mkostemp64(strcpy(bytes, "tXXXXXX"), O_CLOEXEC)));
  LINE(mkstemps, 2, named(mkstemps(strcpy(bytes, "tXXXXXX.s"), 2)));
  LINE(mkstemps64, 2, named(mkstemps64(strcpy(bytes, "tXXXXXX.s"), 2)));
  LINE(mkostemps, 2, named(mkostemps(strcpy(bytes, "tXXXXXX.s"), 2, O_CLOEXEC)));
  LINE(mkostemps64, 2, named(mkostemps64(strcpy(bytes, "tXXXXXX.s"), 2, O_CLOEXEC)));
}

// With a buffer, and places beyond it, so that each seek is one of the kernel's.
static void seeks(void) {
  fpos_t places[2];
  fpos64_t places64[2];
  far = fopen("in", "r");
  LINE(fseek, 2, fseek(far, n ? 20000 : 9000, SEEK_SET) == 0);
  LINE(fseeko, 2, fseeko(far, n ? 20000 : 9000, SEEK_SET) == 0);
  LINE(fseeko64, 2, fseeko64(far, n ? 20000 : 9000, SEEK_SET) == 0);
  fgetpos(far, &places[1]), fgetpos64(far, &places64[1]);
  LINE(rewind, 1, (rewind(far), true));
  fgetpos(far, &places[0]), fgetpos64(far, &places64[0]);
  fseek(far, 20000, SEEK_SET);
  LINE(fsetpos, 2, fsetpos(far, &places[n]) == 0);
  LINE(fsetpos64, 2, fsetpos64(far, &places64[n]) == 0);
}

static void flushes(void) {
  FILE *kept = fopen("kept", "w");
  LINE(fflush, 2, fputs("text", kept) >= 0 && fflush(kept) == 0);
  LINE(fflush_unlocked, 2, fputs("text", kept) >= 0 && fflush_unlocked(kept) == 0);
  static char buffers[2][BUFSIZ];
  LINE(setvbuf, 2, fputs("text", kept) >= 0 && setvbuf(kept, buffers[n], _IOFBF, BUFSIZ) == 0);
  LINE(setbuf, 2, fputs("text", kept) >= 0 && (setbuf(kept, buffers[n]), true));
  LINE(setbuffer, 2, fputs("text", kept) >= 0 && (setbuffer(kept, buffers[n], BUFSIZ), true));
  fputs("text", kept);
  LINE(fcloseall, 1, fcloseall() == 0);
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) return 2;
  in = without_buffer(fopen("in", "r")), out = without_buffer(fopen("out", "w")), without_buffer(stdout);
  fd = open("printed", O_CREAT | O_RDWR, 0600);
  reads(), writes(), prints(), opens(), names(), seeks(), flushes();
  return 0;
}
