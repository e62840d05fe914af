// SPDX-License-Identifier: Apache-2.0
// forks_in_open FIFO: while it waits in open(FIFO) a handler forks; child and parent return into that call, which is made
// again, and then open files of their own.
#include "victim.h"

static volatile pid_t child = -1;

static void on_alarm(int number) {
  (void)number;
  if (child == -1) child = fork();
}

static void open_often(int files) {
  for (int i = 0; i < files; i++) close(open_zero());
}

static pid_t start_writer(const char *fifo) {
  pid_t writer = fork();
  if (writer) return writer;
  usleep(300000);  // both wait by then
  int fd = open(fifo, O_WRONLY);
  usleep(300000);
  close(fd);
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc != 2 || mkfifo(argv[1], 0600) != 0) return 2;
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  pid_t writer = start_writer(argv[1]);
  open_often(3);  // the thread has numbers left
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 50000}, 0);
  int fd = open(argv[1], O_RDONLY);
  open_often(20);
  if (fd < 0 || child == -1) return 3;
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  waitpid(writer, 0, 0);
  return status;
}
