# SPDX-License-Identifier: Apache-2.0
"""A trace is named after the script of an interpreter or launcher; `list` has a column for each fact, and the same as
JSON."""

import json
import sys

from lib import case


def check(this):
    script = this.path("train.py")
    script.write_text("import sys; sys.exit(int(sys.argv[1]))\n", encoding="utf-8")
    package = this.path("pkg")
    package.mkdir()
    (package / "mod.py").write_text("", encoding="utf-8")
    shell = this.path("run.sh")
    shell.write_text(f"{sys.executable} -S {script} 0\n", encoding="utf-8")
    runs = this.path("runs")
    runs.mkdir()
    for command, status in (([sys.executable, "-S", "-u", script, 3], 3), ([sys.executable, script, 0, "--api-key", "hunter2"], 0),
                            ([sys.executable, "-S", "-m", "pkg.mod"], 0), (["bash", "-e", shell], 0),
                            ([sys.executable, "-c", "secret='s3cret'"], 0)):
        done = this.run(case.MLRUN, "--preload=files", "--quiet", *command, cwd=runs,
                        env=this.environment | {"PYTHONPATH": str(this.folder)})
        this.equal("exit status", done.returncode, status, said=done.stderr)
    python = sys.executable.rpartition("/")[2]
    names = sorted(["mlrun-train-1", "mlrun-train-2", "mlrun-pkg.mod-1", "mlrun-run-1", f"mlrun-{python}-1"])
    this.equal("names", sorted(path.name for path in runs.iterdir()), names)
    reported = this.run(case.MLRUN, "list", "--json", cwd=runs)
    this.equal("exit status", reported.returncode, 0, said=reported.stderr)
    traces = {trace["folder"]: trace for trace in json.loads(reported.stdout)["traces"]}
    this.equal("all are listed", sorted(traces), names)
    first = traces["mlrun-train-1"]
    this.equal("keys", sorted(first), ["bytes", "command", "complete", "exit_status", "folder", "started", "wall_ns"])
    this.true("values", first["exit_status"] == 3 and first["wall_ns"] > 0 and first["bytes"] > 0 and first["complete"] is True and
              first["started"].endswith("Z") and first["command"].endswith(f"{script} 3"), first)
    this.true("no secret", "hunter2" not in reported.stdout, reported.stdout)
    lines = this.run(case.MLRUN, "list", cwd=runs).stdout.splitlines()
    this.equal("columns", lines[0].split(), ["FOLDER", "started", "time", "exit", "size", "complete", "command"])
    this.equal("a line for each", [line.split()[0] for line in lines[1:]], names)
    [line] = [line for line in lines if line.startswith("mlrun-train-1 ")]
    this.true("figures before the command", line.split()[5] == "3" and line.endswith(f"{script} 3"), line)


if __name__ == "__main__":
    case.run(check)
