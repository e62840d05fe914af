# SPDX-License-Identifier: Apache-2.0
"""mlrun clean: the session of a killed mlrun is recovered or named, its arena is gone afterwards, and a running session
is left alone."""

import subprocess

from lib import case, killed_collector


def check(this):
    running, data = this.new_trace(), this.data_file()
    with subprocess.Popen(this.command(this.victim("steps"), data, 10, out=running), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=this.environment, text=True) as program:
        program.stdin.write("x")
        program.stdin.flush()
        program.stdout.readline()
        killed_collector.kill_mlrun_after(this, 500)
        done = this.run(case.MLRUN, "clean")
        this.equal("exit status", done.returncode, 0, said=done.stderr)
        this.true("the running session's arena is there", (running / "session.json").exists())
        program.stdin.close()
        program.wait(30)
    this.equal("the running session ended well", program.returncode, 0)


if __name__ == "__main__":
    case.run(check)
