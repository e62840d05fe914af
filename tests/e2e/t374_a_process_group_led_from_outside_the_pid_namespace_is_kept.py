# SPDX-License-Identifier: Apache-2.0
"""In a PID namespace the group of a process has the number 0 where its leader is outside. A signal to that group must not
move mlrun out of it."""

from lib import case

PROGRAM = """
import os, signal, time
print(os.getpgrp(), os.getpgid(os.getppid()), flush=True)
os.kill(0, signal.SIGWINCH)
time.sleep(0.5)
print(os.getpgrp(), os.getpgid(os.getppid()))
"""


def check(this):
    case.need_pid_namespace()
    namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = ["/usr/bin/python3", "-c", PROGRAM]
    untraced = this.run(*namespace, *command)
    traced = this.run(*namespace, *this.command(*command, out=this.path("trace")))
    this.equal("group of the command and of its parent, untraced", untraced.stdout.split("\n"), ["0 0", "0 0", ""])
    this.equal("the same, traced", traced.stdout, untraced.stdout, said=traced.stderr)


if __name__ == "__main__":
    case.run(check)
