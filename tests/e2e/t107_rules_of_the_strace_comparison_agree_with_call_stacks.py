# SPDX-License-Identifier: Apache-2.0
"""With strace -k, which records the stack of each system call: the rule applied to a call without a row agrees with its
stack, and none of these calls went through one of our hooks."""

import subprocess
import sys

from lib import case
from lib.truth import Truth

SCRIPT = """
import ctypes, locale, os, pwd, time, socket
locale.setlocale(locale.LC_ALL, "")
pwd.getpwuid(0)
time.tzset(), time.localtime()
socket.gethostbyname("localhost")
ctypes.CDLL("libz.so.1")
libc, name = ctypes.CDLL(None), f"/e2e.{os.getpid()}".encode()
libc.sem_open(name, os.O_CREAT | os.O_EXCL, 0o600, 1), libc.sem_open(name, 0), libc.sem_unlink(name)
os.close(libc.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)), libc.shm_unlink(name)
libc.syscall(3, os.dup(1))
print(os.sysconf("SC_NPROCESSORS_CONF"), flush=True)
"""
LIBC, LOADER, OURS = "libc.so.6", "ld-linux-x86-64.so.2", "libmlrun_preload.so"
# The caller: the object of the innermost frame.
MAKERS = {"before_our_first_hook": LOADER, "dynamic_loader": LOADER, "locale_and_name_service": LIBC,
          "inside_libc": LIBC, "mlruns_own_files": OURS}


def check(this):
    if "stack-trace" not in subprocess.run(["strace", "-V"], capture_output=True, text=True, check=True).stdout:
        raise case.Skip("needs a strace that can show stacks")
    truth = Truth(this, sys.executable, "-S", "-c", SCRIPT, strace=("-k",))
    truth.report()
    truth.expect_nothing_unsorted()
    for rule, maker in MAKERS.items():
        found = truth.sorted.get(rule, [])
        this.true(f"the program makes calls for the rule {rule}", found)
        wrong = [(call.name, call.path, call.stack[:4]) for call, _ in found if call.stack
                 and (call.stack[0] != maker or maker != OURS and OURS in call.stack[1:2])]
        this.equal(f"calls that {rule} explains and their stack does not", wrong, [])
        this.true(f"{rule}: stacks were seen", any(call.stack for call, _ in found))
    hooked = [calls[0] for row, calls in truth.matched.pairs if calls and calls[0].stack]
    through = sum(OURS in call.stack for call in hooked)
    this.equal("calls under a row that did not go through our library", len(hooked) - through, 0)


if __name__ == "__main__":
    case.run(check)
