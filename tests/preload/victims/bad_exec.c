// SPDX-License-Identifier: Apache-2.0
// Calls of the exec family with pointers that point nowhere fail as they do without us. Prints what is wrong.
#include "victim.h"

static char *volatile nowhere = (char *)16, *volatile none, *arguments[] = {"true", 0};

int main(int argc, char **argv) {
  char *empty[] = {0}, *bad[] = {"A=1", nowhere, 0};
  int wrong = 0;
  wrong += execve(nowhere, arguments, environ) != -1 || errno != EFAULT;
  wrong += execve(none, arguments, empty) != -1 || errno != EFAULT;
  wrong += execveat(AT_FDCWD, nowhere, arguments, environ, 0) != -1 || errno != EFAULT;
  wrong += execveat(0, nowhere, arguments, environ, AT_EMPTY_PATH) != -1 || errno != EFAULT;
  wrong += execve("", arguments, environ) != -1 || errno != ENOENT;
  wrong += execve("/", arguments, environ) != -1 || errno != EACCES;
  wrong += execve(argv[0], (char **)(void *)nowhere, environ) != -1 || errno != EFAULT;
  wrong += posix_spawn(0, nowhere, 0, 0, arguments, environ) != EFAULT;
  wrong += execve("/bin/true", arguments, (char **)(void *)nowhere) != -1 || errno != EFAULT;
  wrong += execve("/bin/true", arguments, bad) != -1 || errno != EFAULT;
  wrong += posix_spawn(0, "/bin/true", 0, 0, arguments, bad) != EFAULT;
  dprintf(1, "wrong=%d\n", wrong);
  execve("/usr/bin/env", argc ? arguments : argv, (char **)(void *)none);
}
