# SPDX-License-Identifier: Apache-2.0
"""Standard files, logs, exit statuses, retries, commands around runs, and figures of each run, recorded or dry, against what the program
itself, the shell and GNU time say."""

import re
import subprocess
from pathlib import Path

import kit
from kit import case

SCRIPT = """echo "in: $(cat)"; echo "$0 $*" >&2; head -c 5000000 /dev/zero | wc -c
[ "$1" != bad ] || kill -9 $$
"""
PLAN = """repetitions = 1
input = "{folder}/input"
retries = 2
before = "sh -c 'echo $MLRUN_SWEEP_CONFIGURATION >> {folder}/around'"
after = "sh -c 'echo $MLRUN_SWEEP_BLOCK >> {folder}/around'"
workloads = ["sh {folder}/script {{what}}"]
[parameters]
what = ["good", "bad"]
[[configuration]]
name = "dry"
dry = true
environment = {{ GREETING = "a b" }}
[[configuration]]
name = "full"
"""
TIME = re.compile(r"(Command (exited with non-zero status|terminated by signal) \d+\n)?"
                  r"[\d.]+user [\d.]+system (\d+:)?\d+:[\d.]+elapsed (\d+|\?)%CPU \(0avgtext\+0avgdata \d+maxresident\)k\n"
                  r"\d+inputs\+\d+outputs \(\d+major\+\d+minor\)pagefaults 0swaps\n")


def check(this):
    folder = this.folder
    this.path("input").write_text("hello")
    this.path("script").write_text(SCRIPT)
    sweep = kit.Sweep(this, PLAN.format(folder=folder))
    sweep.run(status=1)
    rows = sweep.rows("SELECT configuration, workload, state, exit_status, attempt, folder, failure FROM run ORDER BY position, attempt")
    this.equal("attempts: one of each good run, three of each bad one", len(rows), 2 + 2 * 3)
    for configuration, workload, state, status, attempt, name, failure in rows:
        is_good = workload.endswith("good")
        this.equal(name, (state, status), ("done", 0) if is_good else ("failed", 137))
        this.true(name, is_good or failure.startswith("signal 9"), failure)
        this.equal("name of the folder", name.endswith(f".failed-{attempt}"), not is_good and attempt < 3)
        run = sweep.folder(name)
        what = "good" if is_good else "bad"
        this.equal("console.log", (run / "console.log").read_text(), "in: hello\n5000000\n")
        this.equal("error.log", (run / "error.log").read_text(), f"{folder}/script {what}\n")
        log = (run / "time.log").read_text()
        this.true("time.log", TIME.fullmatch(log), log)
        this.equal("time.log of a failure", log.startswith("Command terminated by signal 9\n"), not is_good)
        words = (run / "cmd.log").read_text()
        this.equal("variables in cmd.log", words.startswith("GREETING='a b' "), configuration == "dry")
        again = subprocess.run(["sh", "-c", re.sub(r" -o \S+ ", f" -o {folder}/again-{name} ", words)], input="hello", text=True,
                               capture_output=True, check=False)
        this.equal("cmd.log as a command", again.stdout, "in: hello\n5000000\n")
    around = this.path("around").read_text().split()
    this.equal("commands around runs", (around.count("dry"), around.count("full"), around.count("1")), (4, 4, 8))
    for name in ("wall_s", "user_s", "sys_s", "max_rss_bytes", "major_faults", "input_blocks", "read_bytes"):
        this.equal(f"runs with {name}", sweep.rows(f"SELECT count(*) FROM figure WHERE name = '{name}'"), [(len(rows),)])
    for name in ("steal_share", "other_cpu_share", "load_1m", "memory_available_bytes"):
        this.equal(f"runs with {name}", sweep.rows(f"SELECT count(*) FROM machine WHERE name = '{name}'"), [(len(rows),)])
    balancing = Path("/proc/sys/kernel/numa_balancing")
    known = {(balancing.read_text(encoding="ascii").strip(),)} if balancing.exists() else set()
    this.equal("NUMA balancing of each run", set(sweep.rows("SELECT value FROM fact WHERE name = 'numa_balancing'")), known)
    gnu = subprocess.run(["/usr/bin/time", "-f", "%M %U", "sh", "-c", ": $(head -c 5000000 /dev/zero | wc -c)"], capture_output=True, text=True,
                         check=True)
    rss = sweep.figure("max_rss_bytes", "dry")[0]
    this.true("largest memory, beside GNU time's", 0.3 < rss / (int(gnu.stderr.split()[0]) * 1024) < 3, (rss, gnu.stderr))


if __name__ == "__main__":
    case.run(check)
