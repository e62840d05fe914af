# SPDX-License-Identifier: Apache-2.0
"""Each verb that reads a trace refuses one with a newer schema, with missing tables or with a truncated one, in one line that names the
problem and the remedy. A table that an earlier version did not write is empty."""

import json
import shutil

from lib import case


def copy_of(this, trace, name):
    return shutil.copytree(trace.folder, this.path(name))


def change_run(folder, change):
    run = json.loads((folder / "run.json").read_text())
    change(run)
    (folder / "run.json").write_text(json.dumps(run))


def refused(this, words, *parts):
    done = this.run(case.MLRUN, *words)
    this.equal(f"status of {words}", done.returncode, 125, said=done.stderr)
    this.equal(f"lines of {words}", done.stderr.count("\n"), 1, said=done.stderr)
    this.equal(f"what {words} does not say", [part for part in parts if part not in done.stderr], [], said=done.stderr)
    return done


def check_newer(this, trace):
    newer = copy_of(this, trace, "newer")
    change_run(newer, lambda run: run.update(schema_version=99))
    for words in (("report", newer), ("report", "--json", newer), ("show", newer), ("show", newer, "call"), ("list", newer), ("list", this.folder)):
        done = refused(this, words, "newer mlrun (schema 99; this one reads up to 1)")
        this.true("nothing of it is shown", words[0] == "list" or done.stdout == "", done.stdout)
    this.true("the other traces are listed", trace.folder.name in this.run(case.MLRUN, "list", this.folder).stdout)
    shutil.rmtree(newer)
    out = this.new_trace()
    this.run(*this.command("true", out=out, options=("--defer-merge",)))
    session = json.loads((out / "session.json").read_text())
    (out / "session.json").write_text(json.dumps(session | {"schema_version": 99}))
    refused(this, ("recover", out), "newer mlrun (schema 99")


def check_damaged(this, trace):
    advice = "is damaged", "mlrun recover", "--keep-raw"
    lacking = copy_of(this, trace, "lacking")
    shutil.rmtree(lacking / "tables" / "call")
    for words in (("report", lacking), ("show", lacking, "call"), ("show", lacking)):
        refused(this, words, "'call'", *advice)
    this.equal("another table", this.run(case.MLRUN, "show", lacking, "process").returncode, 0)
    shutil.rmtree(lacking / "tables")
    for words in (("report", lacking), ("show", lacking, "process"), ("show", lacking)):
        refused(this, words, *advice)
    cut = copy_of(this, trace, "cut")
    [file] = (cut / "tables" / "call").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    for words in (("report", cut), ("show", cut, "call"), ("show", cut, "call", "--csv")):
        refused(this, words, file.name, *advice)
    file.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    refused(this, ("show", cut, "call"), file.name, *advice)
    (cut / "run.json").write_text("{")
    for words in (("report", cut), ("show", cut, "call")):
        refused(this, words, "run.json", *advice)


def check_older(this, trace):
    older = copy_of(this, trace, "older")
    change_run(older, lambda run: run.pop("tables"))
    for table in ("block", "gpu_kernel", "device", "sum", "summary_python"):
        shutil.rmtree(older / "tables" / table)
    this.equal("report", this.run(case.MLRUN, "report", older).returncode, 0)
    for form, wanted in (("--json", ""), ("--csv", "ts,bytes\n")):
        done = this.run(case.MLRUN, "show", older, "block", form, "--where", "bytes > 0", "--columns", "ts,bytes")
        this.equal("a table that it lacks", (done.returncode, done.stdout), (0, wanted), said=done.stderr)
    for table in ("access", "page_site", "python_stack", "sample_cpu", "sample_gpu"):
        shutil.rmtree(older / "tables" / table)
        done = this.run(case.MLRUN, "show", older, table, "--json")
        this.equal(f"{table}, which it lacks", (done.returncode, done.stdout), (0, ""), said=done.stderr)
    this.equal("as text", this.run(case.MLRUN, "show", older, "device").returncode, 0)
    this.equal("a table of no trace", this.run(case.MLRUN, "show", older, "nothing").returncode, 125)


def check(this):
    trace = this.trace(this.victim("numbered"), this.data_file(), 100, "exit", status=7)
    check_newer(this, trace)
    check_damaged(this, trace)
    check_older(this, trace)


if __name__ == "__main__":
    case.run(check)
