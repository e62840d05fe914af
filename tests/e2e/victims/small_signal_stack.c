// SPDX-License-Identifier: Apache-2.0
// small_signal_stack FILE COUNT: COUNT signals whose handler, on a stack of the smallest size with a fault behind it, opens,
// reads, writes and closes files and allocates; the first one executes a program, too.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static volatile long handled;

static void execute(void) {
  char *arguments[] = {"true", NULL};
  int status;
  pid_t child = vfork();
  if (!child) execve("/bin/true", arguments, environ), _exit(1);
  if (waitpid(child, &status, 0) != child || status) abort();
}

static void handle(int signal) {
  char byte = (char)signal;
  int fd = open(path, O_RDONLY), sink = open("/dev/null", O_WRONLY);
  void *volatile block = malloc(3000);
  handled += pread(fd, &byte, 1, handled) == 1 && write(sink, &byte, 1) == 1 && block;
  free(block);
  if (handled == 1) execute();
  close(fd), close(sink);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  // What glibc's malloc needs besides what the kernel does.
  size_t bytes = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 2048 + 4095) / 4096 * 4096;
  char *memory = mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 8192, bytes, PROT_READ | PROT_WRITE);
  stack_t stack = {.ss_sp = memory + 8192, .ss_size = bytes};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  path = arguments[1];
  if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL)) return 2;
  for (long i = 0; i < atol(arguments[2]); i++) raise(SIGUSR1);
  printf("%ld handled\n", handled);
}
