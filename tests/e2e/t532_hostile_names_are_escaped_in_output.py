# SPDX-License-Identifier: Apache-2.0
"""For file names with terminal escapes, characters that turn or break lines, and bytes that are not UTF-8, text output
shows them escaped, JSON and CSV are valid UTF-8 and keep different names distinct, and CSV has no formulas."""

import csv
import io
import json
import os
import re

from lib import case

STEERING = ["esc\x1b[31mx", "c1\u009bx", "inv\u202egnp", "iso\u2066x", "mark\u200fx", "line\u2028x", "zero\u200bx", "new\nline"]
BYTES = [b"bad\xff", b"bad\xfe", b"bad\\xff"]
FORMULAS = ["=1+1", "+1", "-1", "@a", "\ta", "'=1"]
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f]")


def check(this):
    folder = this.path("names")
    folder.mkdir()
    for name in (*map(os.fsencode, STEERING), *BYTES):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"x")
    trace = this.trace("sh", "-c", "cat ./*", options=("--lossless",), cwd=folder)
    show = (case.MLRUN, "show", trace.folder, "file")
    strange = this.path("tr\x1b[31m\u202e")
    done = [this.run(*show, "--limit", "0"), this.run(case.MLRUN, "report", trace.folder), this.run(case.MLRUN, "report", strange),
            this.run(case.MLRUN, "show", trace.folder, "\x1b\u202e"), this.run(case.MLRUN, "list", strange),
            this.run(case.MLRUN, "--preload", "-o", trace.folder, "a\u202eb"), this.run(case.MLRUN, "no\u2028such\x1bcommand"),
            this.run(case.MLRUN, "recover", strange)]
    for item in done:
        text = item.stdout + item.stderr
        this.equal(f"characters that steer, in {item.args}", STEERS.findall(text), [])
        this.true(f"it says something, {item.args}", text)
    this.true("a name is shown escaped", r"inv\xe2\x80\xaegnp" in done[0].stdout, done[0].stdout)
    rows = [json.loads(line) for line in this.run(*show, "--json").stdout.splitlines()]
    bad = [row["path_bytes"] for row in rows if "/bad" in row["path"]]
    this.equal("bytes in JSON", sorted(name.rpartition("/")[2] for name in bad if name), [r"bad\x5cxff", r"bad\xfe", r"bad\xff"])
    text = this.run(*show, "--csv", text=False, errors=None).stdout.decode("utf-8", errors="strict")
    this.equal("bytes in CSV", sorted(row["path_bytes"].rpartition("/")[2] for row in csv.DictReader(io.StringIO(text))
                                      if "/bad" in row["path"] and row["path_bytes"]), [r"bad\x5cxff", r"bad\xfe", r"bad\xff"])


def check_formulas(this):
    marks = this.path("run.py")
    log = this.path("mllog.txt")
    marks.write_text("import json, sys, time\n"
                     "with open(sys.argv[1], 'w') as log:\n"
                     f"    for key in {FORMULAS!r}:\n"
                     "        event = {'namespace': '', 'time_ms': int(time.time() * 1000), 'event_type': 'POINT_IN_TIME', 'key': key,\n"
                     "                 'value': None, 'metadata': {}}\n"
                     "        print(':::MLLOG', json.dumps(event), file=log, flush=True)\n")
    trace = this.trace("python3", marks, log, options=("--mllog", log))
    show = (case.MLRUN, "show", trace.folder, "mark", "--columns", "ts,name")
    names = {form: [row["name"] for row in csv.DictReader(io.StringIO(this.run(*show, form).stdout))] for form in ("--csv", "--csv-raw")}
    this.equal("as they are", sorted(names["--csv-raw"]), sorted(FORMULAS))
    this.equal("with an apostrophe", sorted(names["--csv"]), sorted("'" + name for name in FORMULAS))
    below = this.run(case.MLRUN, "show", trace.folder, "call", "--csv", "--where", "ret < 0", "--columns", "ret", "--limit", "1").stdout
    this.equal("numbers stay", below, "ret\n-1\n")


def check_all(this):
    check(this)
    check_formulas(this)


if __name__ == "__main__":
    case.run(check_all)
