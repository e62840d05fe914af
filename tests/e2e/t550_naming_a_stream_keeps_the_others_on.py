# SPDX-License-Identifier: Apache-2.0
"""An option that names a stream adds it or selects within it, and =off removes it; the end of the summary lists the
streams that were on, and those that were requested and did not work."""

import json

from lib import case

LIBRARY = ["files", "allocs", "marks"]
SAMPLES = ["gpu_samples", "thread_samples", "machine_samples"]
# Wanted streams in run.json, and requested ones.
CASES = [
    ([], [*LIBRARY, *SAMPLES, "python_stacks"], []),
    (["--preload"], [*LIBRARY, *SAMPLES, "python_stacks"], LIBRARY),
    (["--preload=files"], ["files", *SAMPLES, "python_stacks"], ["files"]),
    (["--preload=allocs,marks"], ["allocs", "marks", *SAMPLES, "python_stacks"], ["allocs", "marks"]),
    (["--sample"], [*LIBRARY, *SAMPLES, "python_stacks"], SAMPLES),
    (["--sample=gpu", "--preload=off"], ["gpu_samples"], ["gpu_samples"]),
    (["--sample=threads,machine"], [*LIBRARY, "thread_samples", "machine_samples", "python_stacks"], ["thread_samples", "machine_samples"]),
    (["--sample=off"], [*LIBRARY, "python_stacks"], []),
    (["--sample-hz", "5"], [*LIBRARY, *SAMPLES, "python_stacks"], SAMPLES),
    (["--python-stacks"], [*LIBRARY, *SAMPLES, "python_stacks"], ["python_stacks"]),
    (["--python-stacks=off"], [*LIBRARY, *SAMPLES], []),
    (["--cupti"], [*LIBRARY, "gpu", *SAMPLES, "python_stacks"], ["gpu"]),
    (["--stacks=4"], [*LIBRARY, *SAMPLES, "python_stacks"], []),
]


def check(this):
    for options, wanted, asked in CASES:
        out = this.new_trace()
        done = this.run(case.MLRUN, *options, "-o", out, "cat", this.data_file())
        what = " ".join(options) or "no option"
        this.equal(f"{what}: exit status", done.returncode, 0, said=done.stderr)
        stored = json.loads((out / "run.json").read_text())["options"]
        this.equal(f"{what}: streams", stored["streams"], wanted)
        this.equal(f"{what}: asked for", stored["asked_streams"], asked)
        trace = this.opened(out)
        this.equal(f"{what}: calls", bool(trace.rows("call")), "files" in wanted)
        this.equal(f"{what}: allocations", bool(trace.rows("alloc")), "allocs" in wanted)
        end = " ".join(this.run(case.MLRUN, "report", "--full", out).stdout.partition("STREAMS")[2].split())
        is_named = {"files": "files", "allocs": "allocations", "marks": "marks"}
        if "files" in wanted:
            this.true(f"{what}: the end says what was on", end.startswith("on: " + ", ".join(
                is_named[name] for name in LIBRARY if name in wanted)), done.stderr)
        reported = {row["name"]: row for row in json.loads(this.run(case.MLRUN, "report", "--json", out).stdout)["streams"]}
        this.equal(f"{what}: in the report", (list(reported), [name for name in reported if reported[name]["asked"]]),
                   (wanted, asked))
        if "gpu" in wanted:
            this.true("what did not work is named", "requested but not available: GPU work (no process started CUDA)" in end, end)
    refused = this.run(case.MLRUN, "--preload=off", "--sample=off", "-o", this.new_trace(), "true")
    this.equal("nothing is left on", (refused.returncode, refused.stderr.count("\n")), (125, 1), said=refused.stderr)


if __name__ == "__main__":
    case.run(check)
