# SPDX-License-Identifier: Apache-2.0
"""mlrun clean leaves a running session alone, keeps the arena of a killed mlrun while its trace can be recovered
and says so, and removes it when that trace is gone."""

import json
import shutil
import subprocess
from pathlib import Path

from lib import case, killed_collector


def clean(this):
    done = this.run(case.MLRUN, "clean")
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    return {line.split(": ")[0]: line for line in done.stdout.splitlines()}


def arena_of(folder):
    return json.loads((folder / "session.json").read_text())["arena"]["path"]


def check(this):
    running, data = this.new_trace(), this.data_file()
    with subprocess.Popen(this.command(this.victim("steps"), data, 10, out=running), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=this.environment, text=True) as program:
        program.stdin.write("x")
        program.stdin.flush()
        program.stdout.readline()
        in_use, killed = arena_of(running), killed_collector.kill_mlrun_after(this, 500).trace
        left = arena_of(killed)
        if not left.startswith("/dev/shm/"):
            raise case.Skip("needs 1 GiB free in /dev/shm")
        said = clean(this)
        this.true("the running session is left alone", "in use" in said[in_use] and Path(in_use).exists(), said)
        this.true("a run to recover is named", f"mlrun recover {killed}" in said[left] and Path(left).exists(), said)
        shutil.rmtree(killed)
        this.true("an arena without a trace is removed", "removed" in clean(this)[left] and not Path(left).exists())
        program.stdin.close()
        program.wait(30)
    this.equal("the running session ended well", program.returncode, 0)


if __name__ == "__main__":
    case.run(check)
