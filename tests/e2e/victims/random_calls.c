// SPDX-License-Identifier: Apache-2.0
// random_calls SEED PROGRAMS FOLDER: random programs of calls on descriptors and streams. Each step begins with a call
// that fails, lseek(-1, STEP, SEEK_SET), so that two logs of the run can be laid side by side; a negative STEP says that
// what follows moves bytes by functions that are not recorded.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kHandles = 4, kFiles = 2, kStepsMax = 40, kMost = 20480 };

struct handle {
  int fd;  // -1: free
  FILE *stream;
};

static uint64_t state;
static long step;
// Files may have some. Then fgets is not used, which does not say how many bytes it took of text with a 0 in it.
static int holes;
static struct handle handles[kHandles];
static char bytes[kMost + 1], names[kFiles][4096];
static char buffers[kHandles][16384];

static unsigned below(unsigned most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % most;
}

static long some_bytes(void) {
  static const long kSizes[] = {0, 1, 7, 60, 100, 511, 1000, 4095, 4096, 4097, 5000, 8192, 9000, 16384, kMost};
  return below(3) ? kSizes[below(sizeof kSizes / sizeof *kSizes)] : (long)below(300);
}

static long some_place(void) { return below(2) ? (long)below(20000) : (long)below(6) * 4096; }

// A place to go to, of the file behind fd.
static long place_in(int fd) {
  struct stat status;
  if (holes) return some_place();
  long size = fstat(fd, &status) == 0 ? (long)status.st_size : 0;
  return (long)below(size < 300 ? (unsigned)size + 1 : 300);
}

// Distance of a seek; negative if the file must get no holes.
static long distance(unsigned most) { return (long)below(most) - (long)(holes ? most / 2 : most); }

static void mark(int seen) { lseek(-1, seen ? ++step : -++step, SEEK_SET); }

static struct handle *free_handle(void) {
  for (int i = 0; i < kHandles; i++)
    if (handles[i].fd < 0) return &handles[i];
  return NULL;
}

static void open_some(struct handle *into) {
  static const int kFlags[] = {O_RDONLY,
                               O_WRONLY | O_CREAT,
                               O_RDWR | O_CREAT,
                               O_RDWR | O_CREAT | O_TRUNC,
                               O_WRONLY | O_CREAT | O_APPEND,
                               O_RDWR | O_CREAT | O_APPEND};
  static const char *const kModes[] = {"r", "r+", "w", "w+", "a", "a+", "r+", "w+"};
  const char *name = names[below(kFiles)];
  *into = (struct handle){.fd = -1};
  if (below(2)) {
    int flags = kFlags[below(6)];
    into->fd = open(name, holes ? flags : flags & ~O_TRUNC, 0644);
  } else {
    const char *mode = kModes[below(8)];
    into->stream = fopen(name, !holes && mode[0] == 'w' ? "r+" : mode);
    into->fd = into->stream ? fileno(into->stream) : -1;
  }
}

static void end(struct handle *handle) {
  if (handle->stream)
    fclose(handle->stream);
  else
    close(handle->fd);
  *handle = (struct handle){.fd = -1};
}

static void copy(struct handle *from) {
  struct handle *into = free_handle();
  if (!into) return;
  *into = (struct handle){.fd = below(2) ? dup(from->fd) : fcntl(from->fd, F_DUPFD, 20)};
  if (below(3) || into->fd < 0) return;
  static const char *const kModes[] = {"r", "w", "a", "r+", "a+"};
  into->stream = fdopen(into->fd, kModes[below(5)]);
}

static void use_descriptor(int fd) {
  long size = some_bytes(), place = place_in(fd);
  struct iovec parts[2] = {{bytes, (size_t)size / 2}, {bytes + size / 2, (size_t)(size - size / 2)}};
  switch (below(16)) {
    case 0:
    case 1: read(fd, bytes, (size_t)size); break;
    case 2:
    case 3: write(fd, bytes, (size_t)size); break;
    case 4: pread(fd, bytes, (size_t)size, place); break;
    case 5: pwrite(fd, bytes, (size_t)size, place); break;
    case 6: readv(fd, parts, 2); break;
    case 7: writev(fd, parts, 2); break;
    case 8: preadv2(fd, parts, 2, below(2) ? -1 : place, 0); break;
    case 9: pwritev2(fd, parts, 2, below(2) ? -1 : place, below(2) ? RWF_APPEND : 0); break;
    case 10: pwritev(fd, parts, 2, place); break;
    case 11: lseek(fd, place, SEEK_SET); break;
    case 12: lseek(fd, distance(200), SEEK_CUR); break;
    case 13: lseek(fd, -(long)below(100), SEEK_END); break;
    case 14:
      if (holes) ftruncate(fd, place);
      break;
    case 15: fcntl(fd, F_SETFL, below(2) ? O_APPEND : 0); break;
  }
}

static void buffer(struct handle *handle) {
  static const size_t kSizes[] = {1, 100, 128, 1000, 4096, 16384};
  size_t size = kSizes[below(6)];
  switch (below(5)) {
    case 0: setvbuf(handle->stream, NULL, _IONBF, 0); break;
    case 1: setvbuf(handle->stream, NULL, _IOLBF, 0); break;
    case 2: setlinebuf(handle->stream); break;
    default: setvbuf(handle->stream, buffers[handle - handles], _IOFBF, size); break;
  }
}

static void get_line(FILE *stream, int delimiter) {
  static char *line;
  static size_t room;
  getdelim(&line, &room, delimiter, stream);
}

static void use_stream(struct handle *handle) {
  FILE *stream = handle->stream;
  size_t size = (size_t)some_bytes();
  switch (below(20)) {
    case 0:
    case 1:
    case 2: fread(bytes, 1, size, stream); break;
    case 3: fread(bytes, 7, size / 7, stream); break;
    case 4:
    case 5:
    case 6: fwrite(bytes, 1, size, stream); break;
    case 7: fwrite(bytes, 10, size / 10, stream); break;
    case 8:
      if (!holes) fgets(bytes, (int)below(200) + 2, stream);  // how much it takes of text with a 0 in it is not known
      memset(bytes, 'a', 300);
      break;
    case 9: get_line(stream, below(2) ? '\n' : 'b'); break;
    case 10: fputs("a line\n", stream); break;
    case 11: fprintf(stream, "%d numbers of %ld%c", 12, step, below(2) ? '\n' : ' '); break;
    case 12: fseek(stream, place_in(fileno(stream)), SEEK_SET); break;
    case 13: fseek(stream, distance(400), SEEK_CUR); break;
    case 14: fseek(stream, distance(600), SEEK_END); break;
    case 15: rewind(stream); break;
    case 16: fflush(below(4) ? stream : NULL); break;
    case 17: ftell(stream); break;
    case 18: buffer(handle); break;
    case 19: clearerr(stream); break;
  }
}

static void use_stream_unseen(struct handle *handle) {
  FILE *stream = handle->stream;
  unsigned times = below(4) ? below(50) : below(9000);
  switch (below(4)) {
    case 0:
      while (times-- && getc(stream) != EOF) {
      }
      break;
    case 1:  // what is put in is written out before anything is read, as C asks for
      fseek(stream, 0, SEEK_CUR);
      while (times-- && putc(times % 40 ? 'p' : '\n', stream) != EOF) {
      }
      fflush(stream);
      break;
    case 2:  // libc frees blocks twice where a stream is written, or gets a buffer, with something pushed back
      ungetc("xa"[below(2)], stream);
      fread(bytes, 1, below(20), stream);
      fseek(stream, 0, SEEK_CUR);
      break;
    case 3: fscanf(stream, "%*100s"); break;
  }
}

static void take_steps(unsigned count, int unseen, int forks);

static void use(struct handle *handle, int unseen, int forks) {
  if (handle->fd < 0) {
    open_some(handle);
    return;
  }
  unsigned what = below(24);
  if (what == 0) {
    end(handle);
  } else if (what == 1) {
    copy(handle);
  } else if (what == 2 && handle->stream && below(2)) {
    handle->stream = freopen(names[below(kFiles)], "r+", handle->stream);
    handle->fd = handle->stream ? fileno(handle->stream) : -1;
  } else if (what == 3 && forks) {
    pid_t child = fork();
    if (child == 0) {
      take_steps(below(6), unseen, 0);
      if (below(2)) exit(0);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  } else if (handle->stream && below(6)) {
    use_stream(handle);
  } else {
    use_descriptor(handle->fd);
  }
}

static void take_steps(unsigned count, int unseen, int forks) {
  while (count--) {
    struct handle *handle = &handles[below(kHandles)];
    int hides = unseen && handle->stream && below(4) == 0;
    mark(!hides);
    if (hides)
      use_stream_unseen(handle);
    else
      use(handle, unseen, forks);
  }
}

static void run_program(uint64_t seed) {
  state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < 8; i++) below(2);
  holes = 1;
  for (int i = 0; i < kHandles; i++) handles[i] = (struct handle){.fd = -1};
  for (int i = 0; i < kFiles; i++) {
    mark(1);
    int fd = open(names[i], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    long size = some_place();
    for (long at = 0; at < kMost; at++) bytes[at] = at % 37 ? 'a' : "\nb "[below(3)];
    write(fd, bytes, (size_t)size);
    close(fd);
  }
  holes = below(3) != 0;
  take_steps(10 + below(kStepsMax), below(3) == 0, below(8) == 0);
  for (int i = 0; i < kHandles; i++) {
    mark(1);
    if (handles[i].fd >= 0) end(&handles[i]);
  }
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  uint64_t seed = strtoull(arguments[1], NULL, 10);
  long programs = atol(arguments[2]);
  for (int i = 0; i < kFiles; i++) snprintf(names[i], sizeof names[i], "%s/file%d", arguments[3], i);
  for (long i = 0; i < programs; i++) run_program(seed + (uint64_t)i);
  return 0;
}
