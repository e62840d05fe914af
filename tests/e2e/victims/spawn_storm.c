// SPDX-License-Identifier: Apache-2.0
// spawn_storm COUNT FILE: COUNT children by posix_spawnp, with file actions that open FILE on descriptor 9 and a closed
// descriptor 0, and an environment of their own. All must end with 0.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 2;
  char *const command[] = {"sh", "-c", "read x <&9; test \"$OWN\" = 1", NULL};
  char *const environment[] = {"OWN=1", "PATH=/usr/bin:/bin", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 9, arguments[2], O_RDONLY, 0);
  posix_spawn_file_actions_addclose(&actions, 0);
  long failed = 0;
  for (long i = 0; i < atol(arguments[1]); i++) {
    pid_t child;
    int status = -1;
    failed += posix_spawnp(&child, "sh", &actions, NULL, command, environment) || waitpid(child, &status, 0) != child ||
              status;
  }
  return failed != 0;
}
