# SPDX-License-Identifier: Apache-2.0
"""Programs with AddressSanitizer, its runtime shared or linked in, run without a complaint about library order and with
the same output and status, as the command itself and under a shell; their calls are recorded, and an error is still
found."""

import os

from lib import case, serials

CALLS = 1000


def check(this):
    data, missing = this.data_file(), []
    for name in ("numbered_asan", "numbered_asan_linked_in"):
        program = this.victim(name)
        if not os.path.exists(program):
            missing.append(name)
            continue
        for command in ((program, data, CALLS, "_exit"), ("/bin/sh", "-c", '"$@"; exit $?', "sh", program, data, CALLS, "_exit")):
            trace = this.untraced_and_traced(*command)
            serials.expect_threads(this, trace.serials(data), [CALLS])
        found = this.run(*this.command(this.victim(name.replace("numbered", "overflows")), out=this.new_trace()))
        this.true(f"{name}: the error is found", found.returncode == 1 and "heap-buffer-overflow" in found.stderr, found)
    # The build makes them with the compiler's own runtime, which comes with it.
    this.equal("programs that were not built", missing, [])


if __name__ == "__main__":
    case.run(check)
