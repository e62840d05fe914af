# SPDX-License-Identifier: Apache-2.0
"""When a program writes random words all over the buffer shared with mlrun, mlrun ends with the program's status, and
makes a trace or says why not; it never crashes or hangs."""

from lib import case

ROUNDS, CALLS = 8, 5000


def check(this):
    made = 0
    for seed in range(ROUNDS):
        out = this.new_trace()
        done = this.run(*this.command(this.victim("hostile"), this.data_file(), CALLS, seed, out=out), timeout=60)
        # Above 128: the program crashed, since the library kept recording into the buffer that it had destroyed.
        this.true("mlrun ended by itself", done.returncode in (6, 125, 134, 135, 139), done)
        made += (out / "run.json").exists()
    this.true("traces were made", made > 0)


if __name__ == "__main__":
    case.run(check)
