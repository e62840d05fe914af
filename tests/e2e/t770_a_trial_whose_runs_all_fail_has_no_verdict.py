# SPDX-License-Identifier: Apache-2.0
"""Where a command fails in each run of a trial or a calibration, one error states how many failed and where their output is. Nothing is judged or
predicted, and no file is left. A trial that Ctrl-C stops prints how to resume it."""

import signal
import subprocess
import time

from lib import case


def stop(this, words, folder):
    """Sends Ctrl-C once the first run is there."""
    with subprocess.Popen([case.MLRUN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=this.environment) as process:
        while not (folder / "runs").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    return process.returncode, said


def check(this):
    case.need_huge_pages()
    what, rules, missing = this.path("what"), this.path("rules.toml"), this.path("missing.toml")
    what.write_text("dense", encoding="ascii")
    trace = this.trace(this.victim("hot_and_cold"), "2", "10", what, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=1G", "-o", rules)
    this.equal("advice", done.returncode, 0, said=done.stderr)
    status, said = stop(this, ("advise", rules, "--try", this.path("stopped"), "--quiet"), this.path("stopped"))
    this.equal("stopped: status", status, 128 + signal.SIGINT, said=said)
    this.true("stopped: how it goes on", f"go on with: mlrun advise '{rules}' --try '{this.path('stopped')}' --blocks 8" in said, said)
    what.unlink()
    for folder, words in (("trial", (rules,)), ("calibration", (trace.folder, "--fast", "huge=1G", "-o", missing))):
        option = "--try" if folder == "trial" else "--calibrate"
        done = this.run(case.MLRUN, "advise", *words, option, this.path(folder), "--quiet", timeout=600)
        this.equal(f"{option}: status", done.returncode, 125, said=done.stdout + done.stderr)
        this.true(f"{option}: how many, and where to look", " can be used: 32 runs failed (" in done.stderr and f"{this.path(folder)}/runs" in done.stderr, done.stderr)
        this.equal(f"{option}: nothing is judged", done.stdout, "")
    this.true("no file", not missing.exists())


if __name__ == "__main__":
    case.run(check)
