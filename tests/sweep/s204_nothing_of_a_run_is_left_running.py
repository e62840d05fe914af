# SPDX-License-Identifier: Apache-2.0
"""A run that leaves a daemon with a session and files of its own: the daemon is ended after the run, after a time limit, after Ctrl-C
and after SIGKILL to the sweep. A process of another program, with the sweep's files open for reading, is left alone."""

import os
import signal
import subprocess
import time
from pathlib import Path

import kit
from kit import case

# Leaves the session, the parent and the standard files of the run; ignores SIGTERM.
DAEMON = """import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for fd in (0, 1, 2): os.close(fd)
        with open(sys.argv[1], "a") as file: file.write(f"{os.getpid()}\\\\n")
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(float(sys.argv[2]))
"""


def plan(this, seconds, more=""):
    this.path("daemon.py").write_text(DAEMON.replace("\\\\n", "\\n"))
    return (f'repetitions = 1\n{more}\nworkloads = ["python3 {this.path("daemon.py")} {this.path("pids")} {seconds}"]\n'
            '[[configuration]]\nname = "dry"\ndry = true\n[[configuration]]\nname = "full"\noptions = ["--python-stacks=off"]\n')


def pids(this):
    path = this.path("pids")
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def expect_gone(this, how, number):
    found = pids(this)
    this.equal(f"daemons, {how}", len(found), number)
    kit.wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in found), seconds=20)
    this.path("pids").unlink()


def check(this):
    sweep = kit.Sweep(this, plan(this, 0), "ends")
    sweep.run()
    expect_gone(this, "after the run", 2)
    this.equal("what is stored of it", sweep.rows("SELECT value FROM fact WHERE name = 'left_running'"), [("1",), ("1",)])

    limited = kit.Sweep(this, plan(this, 60, "time_limit = 1"), "limited")
    limited.run(status=1)
    expect_gone(this, "after the time limit", 2)
    this.equal("states", limited.rows("SELECT state FROM run"), [("timed_out",), ("timed_out",)])

    stopped = kit.Sweep(this, plan(this, 60), "stopped")
    process = stopped.start(start_new_session=True)
    kit.wait_until(lambda: len(pids(this)) == 1)
    os.killpg(process.pid, signal.SIGINT)
    this.equal("exit status after Ctrl-C", process.wait(timeout=30), 130)
    expect_gone(this, "after Ctrl-C", 1)

    process = stopped.start()
    kit.wait_until(lambda: len(pids(this)) == 1)
    reader = subprocess.Popen(["tail", "-f", *sorted((stopped.out / "runs").glob("*/console.log"))],
                              stdout=subprocess.DEVNULL)  # pylint: disable=consider-using-with
    kit.kill(stopped, process, also_supervisor=False)
    expect_gone(this, "after SIGKILL to the sweep", 1)
    process = stopped.start()
    kit.wait_until(lambda: len(pids(this)) == 1)
    os.kill(process.pid, signal.SIGTERM)
    this.equal("exit status after SIGTERM", process.wait(timeout=30), 128 + signal.SIGTERM)
    expect_gone(this, "after a resumed sweep was stopped", 1)
    time.sleep(0.1)
    this.equal("another program that reads a log", reader.poll(), None)
    reader.kill()
    reader.wait()
    this.equal("attempts", stopped.rows("SELECT count(*), sum(interrupted) FROM run WHERE state = 'failed'"), [(3, 3)])


if __name__ == "__main__":
    case.run(check)
