// SPDX-License-Identifier: Apache-2.0
// executes FOLDER: programs that are executed by vfork children and by relative paths, and some that cannot be.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum way { kHere, kElsewhere, kByFolder, kByDescriptor, kInPath, kNotExecutable, kNotThere, kAfterFailing };

static char *const arguments[] = {"program", NULL};

static void execute(enum way way, int folder, int program) {
  switch (way) {
    case kHere: execve("./program", arguments, environ); break;
    case kElsewhere:
      if (chdir("below")) _exit(9);
      execve("../program", arguments, environ);
      break;
    case kByFolder: execveat(folder, "program", arguments, environ, 0); break;
    case kByDescriptor: fexecve(program, arguments, environ); break;
    case kInPath: execvp("program", arguments); break;
    case kNotExecutable: execve("./text", arguments, environ); break;
    case kNotThere: execve("./none", arguments, environ); break;
    case kAfterFailing:
      execve("./text", arguments, environ);
      execve("./none", arguments, environ);
      execve("./program", arguments, environ);
      break;
  }
  _exit(7);
}

int main(int count, char **names) {
  if (count < 2 || chdir(names[1])) return 1;
  setenv("PATH", "/nowhere:.:/usr/bin", 1);
  int folder = open(".", O_RDONLY | O_DIRECTORY), program = open("program", O_RDONLY | O_CLOEXEC);
  for (enum way way = kHere; way <= kAfterFailing; way++) {
    pid_t child = vfork();
    if (child == 0) execute(way, folder, program);
    waitpid(child, NULL, 0);
    child = fork();
    if (child == 0) execute(way, folder, program);
    waitpid(child, NULL, 0);
  }
  return 0;
}
