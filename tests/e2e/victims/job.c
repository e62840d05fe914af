// SPDX-License-Identifier: Apache-2.0
// job LOG [MODE]: writes its place in its job, then each signal that it gets, one per line, until LOG.end is there.
// Modes: "kills_group", "kills_parent", "own_group" (setpgid, then a line of the terminal), "reads" (a line of standard input), "writes" (a line),
// "stops" (itself),
// "plain" (no handlers), "children" (two of them, with the same handlers).
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int log_fd;
static const char* process = "command";

static void put(const char* format, ...) {
  char line[200];
  va_list values;
  va_start(values, format);
  int used = snprintf(line, sizeof line, "%s: ", process);
  used += vsnprintf(line + used, sizeof line - used, format, values);
  va_end(values);
  line[used++] = '\n';
  write(log_fd, line, used);
}

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)context;
  if (info->si_code == SI_QUEUE) {
    put("signal %d with %d", number, info->si_value.sival_int);
  } else {
    put("signal %d", number);
  }
}

static void handle_all(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1,     SIGUSR2,
                         SIGALRM, SIGCONT, SIGURG,  SIGRTMIN, SIGRTMIN + 3};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    sigaddset(&action.sa_mask, numbers[i]);
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction before;
    sigaction(numbers[i], NULL, &before);
    if (before.sa_handler == SIG_IGN) put("ignores %d", numbers[i]);
    sigaction(numbers[i], &action, NULL);
  }
}

static void put_place(void) {
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  put("leader %d, foreground %d", getpgrp() == getpid(), terminal < 0 ? -1 : tcgetpgrp(terminal) == getpgrp());
  if (terminal >= 0) close(terminal);
}

static void read_line(void) {
  char line[100] = "";
  const ssize_t got = read(STDIN_FILENO, line, sizeof line - 1);
  line[strcspn(line, "\r\n")] = 0;
  put("read %zd '%s'", got, line);
}

int main(int count, char** words) {
  const char* mode = count > 2 ? words[2] : "";
  log_fd = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  char end[4096];
  snprintf(end, sizeof end, "%s.end", words[1]);
  if (strcmp(mode, "plain") != 0) handle_all();
  put_place();
  if (!strcmp(mode, "own_group")) {
    setpgid(0, 0);
    put_place();
    read_line();
  }
  if (!strcmp(mode, "children")) {
    for (int number = 1; number <= 2; number++) {
      if (fork() == 0) {
        process = number == 1 ? "first child" : "second child";
        put("is there");
        break;
      }
    }
  }
  put("ready");
  if (!strcmp(mode, "reads")) read_line();
  if (!strcmp(mode, "writes")) put("wrote %zd", write(STDOUT_FILENO, "a line\n", 7));
  if (!strcmp(mode, "kills_group")) kill(0, SIGUSR1);
  if (!strcmp(mode, "kills_parent")) kill(getppid(), SIGUSR1);
  if (!strcmp(mode, "stops")) raise(SIGSTOP);
  struct stat status;
  for (int i = 0; i < 4000 && stat(end, &status) != 0; i++) usleep(5000);
  while (!strcmp(process, "command") && wait(NULL) > 0) {
  }
  put("end");
  return 3;
}
