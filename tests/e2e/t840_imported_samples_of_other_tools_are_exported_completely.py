# SPDX-License-Identifier: Apache-2.0
"""Every sample file of other tools (MLRUN_SAMPLES, or ../shared/samples) is imported, or refused in one line; each trace is exported to Perfetto,
Chrome, OTF2 and SQLite, and independent readers find as many events and rows in each as mlrun says, and all rows are written or listed."""

import gzip
import json
import os
import pathlib
import re
import sqlite3

import pyarrow.parquet

from lib import case, perfetto_file
from lib.exported import account, events_of, every_row_is_told_of, export
from lib.imported import Imported, imported, run
from lib.otf2_check import read_archive

SAMPLES = pathlib.Path(os.environ.get("MLRUN_SAMPLES", case.SOURCE.parent / "shared" / "samples"))
# No traces, or parts of one.
REFUSED = re.compile(r"LICENSE|README|\.textproto$|^otava/|^dlio/|google_cloud_trace|otf2_pipit/.*(\.def|\.evt)$|zero_size_sample|otf2_pipit/.*/traces$")
DEFINITIONS = {"process", "thread", "image", "file", "name", "stack", "frame", "gpu", "device"}
STACKS = {"stack_sample", "python_stack"}


def rows_of(trace, table):
    return sum(pyarrow.parquet.read_metadata(part).num_rows for part in (trace.folder / "tables" / table).glob("*.parquet"))


def check_perfetto(this, name, trace):
    out, printed = export(this, trace, "perfetto", f"{name}.pftrace")
    every_row_is_told_of(this, trace, printed)
    file = perfetto_file.read(out)
    this.equal(f"faults of {name} for Perfetto", file.faults, [])
    reported = account(printed)
    arrows = re.search(r"arrows of flow: \d+; (\d+) of its rows", printed)
    this.equal(f"slices, points and counters of {name}", len(file.slices) + len(file.counters) + (int(arrows[1]) if arrows else 0), events_of(printed, reported.keys() - STACKS))
    this.true(f"samples of {name}", len(file.samples) <= events_of(printed, STACKS) + events_of(printed, {"slice"}), printed)


def check_chrome(this, name, trace):
    out, printed = export(this, trace, "chrome", f"{name}.json.gz")
    every_row_is_told_of(this, trace, printed)
    events = json.loads(gzip.decompress(out.read_bytes()))["traceEvents"]
    own = [event for event in events if event["ph"] not in ("M", "e") and (event.get("cat"), event.get("name")) != ("arrow", "causes")]
    this.equal(f"events of {name} for Chrome", len(own), events_of(printed, account(printed).keys()))
    again = imported(this, out)
    this.equal(f"events of {name}, left out when they come back", again.left_out(), {})
    this.equal(f"ends of arrows of {name} for Chrome", sum(event["ph"] in "stf" for event in own), account(printed).get("flow", (0, 0))[0])
    this.equal(f"ends of arrows of {name}, imported again", rows_of(again, "flow"), sum(event["ph"] in "stf" for event in events))


def check_otf2(this, name, trace):
    out, printed = export(this, trace, "otf2", f"{name}.otf2")
    every_row_is_told_of(this, trace, printed)
    archive = read_archive(out)
    this.equal(f"what is wrong with the archive of {name}", archive.wrong, [])
    this.equal(f"events of {name} for OTF2", sum(archive.events.values()), events_of(printed, account(printed).keys() - DEFINITIONS))
    again = imported(this, out / "traces.otf2")
    this.equal(f"ends of arrows of {name} in OTF2", rows_of(again, "flow"), rows_of(trace, "flow"))


def check_sqlite(this, name, trace):
    out, printed = export(this, trace, "sqlite", f"{name}.sqlite")
    every_row_is_told_of(this, trace, printed)
    base = sqlite3.connect(out)
    for table in sorted(path.name for path in (trace.folder / "tables").iterdir()):
        this.equal(f"rows of {table} of {name} in SQLite", base.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0], rows_of(trace, table))
    base.close()


def check(this):
    if not SAMPLES.is_dir():
        raise case.Skip(f"no samples in {SAMPLES}")
    read, faults = 0, []
    for path in sorted(path for path in SAMPLES.rglob("*") if path.is_file()):
        name = str(path.relative_to(SAMPLES))
        done, folder = run(this, path)
        if REFUSED.search(name):
            if (done.returncode, len(done.stderr.splitlines()), folder.exists()) != (125, 1, False):
                faults.append(f"{name} was not refused in one line: {done.returncode}, {done.stderr}")
            continue
        if (done.returncode, done.stderr) != (0, ""):
            faults.append(f"import of {name}: {done.returncode}, {done.stderr}")
            continue
        read += 1
        trace = Imported(folder)
        for file in trace.files:
            kept = sum(sum_["events"] for sum_ in file["kept"].values())
            this.equal(f"{name}: events = kept + left out", file["events"], kept + sum(file["left_out"].values()))
        flat = name.replace("/", "_")
        for check_one in (check_perfetto, check_chrome, check_otf2, check_sqlite):
            try:
                check_one(this, flat, trace)
            except Exception as fault:  # pylint: disable=broad-exception-caught  # all of them are shown at the end
                faults.append(f"{check_one.__name__} of {name}: {fault!r}")
    this.true("\n".join(faults), not faults)
    this.true("files were read", read > 40, read)


if __name__ == "__main__":
    case.run(check)
