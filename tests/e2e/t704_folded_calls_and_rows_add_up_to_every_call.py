# SPDX-License-Identifier: Apache-2.0
"""--fold: short calls are sums by process, file and function, long and failed ones are rows; together they equal what
the program issued, and the summary equals that of a merge of the same recording without folding."""

import json
import shutil

from lib import case

# The driver's time is divided by the rows of calls.
OF_ROWS = ("driver", "time", "without_batch_ns", "without_batch_low_ns", "without_batch_high_ns", "batches_from_ns", "batches_to_ns",
           "startup", "findings", "waited_for", "steps")
ISSUED, BOUND_NS = 20000, 10_000
PROCESSES = ("fork", "vfork", "execve", "posix_spawn", "pthread_create")


def totals(trace):
    """(process, file, function): calls, bytes and time of rows and folded calls together."""
    sums = {}
    def add(key, *values):
        sums[key] = tuple(a + b for a, b in zip(sums.get(key, (0, 0, 0)), values, strict=True))
    for call in trace.calls:
        moves = call.func in ("read", "pread", "write", "pwrite", "fread", "fgets", "fwrite", "fputs", "fflush")
        add((call.proc_id, call.path, call.func), 1, max(call.ret, 0) if moves else 0, call.end_ns - call.ts_ns)
    for row in trace.rows("folded"):
        add((row["proc_id"], trace.paths.get(row["file_id"], ""), row["func"]), row["calls"], row["bytes"],
            row["time_ns"])
    return sums


def report(this, trace):
    reported = json.loads(this.run(case.MLRUN, "report", trace.folder, "--json").stdout)
    for key in ("events", "fold_ns", "folded_calls"):
        reported["tracing"].pop(key)
    return reported


def without_fold(this, folded):
    """The same recording merged again, as if --fold had not been given."""
    whole = this.path("whole")
    whole.mkdir()
    for name in ("spool.bin", "session.json"):
        shutil.copy(folded.folder / name, whole / name)
    session = json.loads((whole / "session.json").read_text())
    this.equal("the rule in session.json", session["options"]["fold_ns"], BOUND_NS)
    session["options"]["fold_ns"] = 0
    (whole / "session.json").write_text(json.dumps(session))
    merged = this.run(case.MLRUN, "recover", whole, "--quiet")
    this.equal("exit status of the second merge", merged.returncode, 0, said=merged.stderr)
    return case.Trace(whole)


def check(this):
    data = this.data_file()
    script = f"{this.victim('numbered')} {data} {ISSUED} exit; cat {data} /nowhere > /dev/null; {this.victim('hooks_names')} ."
    folded = this.trace("/bin/sh", "-c", script + "; exit 0", options=["--fold", "10us", "--keep-raw"])
    whole = without_fold(this, folded)
    this.equal("the rule in the result", folded.run["options"]["fold_ns"], BOUND_NS)
    for call in folded.calls:
        this.true("only long and failed calls, and those that make processes, have rows",
                  call.end_ns - call.ts_ns >= BOUND_NS or call.err != 0 or call.func in PROCESSES, call)
    this.true("most calls are folded", len(folded.calls) < ISSUED / 2, len(folded.calls))
    long_ones = [call for call in whole.calls if call.end_ns - call.ts_ns >= BOUND_NS or call.err != 0
                 or call.func in PROCESSES]
    this.equal("the rows are those of the whole trace", folded.calls, long_ones)
    this.equal("calls, bytes and time by process, file and function", totals(folded), totals(whole))
    issued = [calls for (_, path, func), (calls, _, _) in totals(folded).items() if func == "pread" and path == data]
    this.equal("numbered calls", issued, [ISSUED])
    this.equal("rows of folded sums in a whole trace", whole.rows("folded"), [])
    mine, theirs = report(this, folded), report(this, whole)
    for key in ("run", *OF_ROWS):
        mine.pop(key), theirs.pop(key)
    for phase in mine["phases"] + theirs["phases"]:
        phase.pop("wait_ns"), phase.pop("compute_ns")
    this.equal("the report", mine, theirs)
    this.true("the summary says the rule", "FOLDED" in this.run(case.MLRUN, "report", "--full", folded.folder).stdout)
    shown = this.run(case.MLRUN, "show", folded.folder, "folded")
    this.true("show knows the table", shown.returncode == 0 and "pread" in shown.stdout, shown.stderr)


if __name__ == "__main__":
    case.run(check)
