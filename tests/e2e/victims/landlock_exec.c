// SPDX-License-Identifier: Apache-2.0
// landlock_exec PROGRAM...: executes it with a right to read what is below /usr, /lib, /lib64 and /etc alone. 77: there is no Landlock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static const char *const folders[] = {"/usr", "/lib", "/lib64", "/etc"};
  struct landlock_ruleset_attr handled = {.handled_access_fs =
                                              LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (count < 2 || rules < 0) return 77;
  for (int i = 0; i < 4; i++) {
    struct landlock_path_beneath_attr rule = {LANDLOCK_ACCESS_FS_READ_FILE, open(folders[i], O_PATH | O_CLOEXEC)};
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, rules, 0)) return 77;
  close(rules);
  execv(arguments[1], arguments + 1);
  return 4;
}
