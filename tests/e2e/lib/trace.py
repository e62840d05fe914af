# SPDX-License-Identifier: Apache-2.0
"""Reads a trace folder, run.json and tables/NAME/*.parquet, by PyArrow, with ids joined to names."""

import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import pyarrow
import pyarrow.parquet

CLOCK_NS, CLOCK_WORST_NS = 2_000, 20_000


@dataclass
class Call:
    pid: int
    tid: int
    proc_id: int
    image_id: int
    func: str
    fd: int
    path: str
    ts_ns: int
    end_ns: int
    offset: int
    offset_source: str
    requested: int
    ret: int
    err: int
    flags: int
    arg2: int
    path2: str
    served_calls: int
    ofd_id: int
    via: str = "function"
    wanted_addr: int | None = None


class Trace:
    def __init__(self, folder):
        self.folder = folder

    @cached_property
    def run(self):
        return json.loads((self.folder / "run.json").read_text())

    @property
    def arena_path(self):
        return self.run["arena"]["path"]

    @cached_property
    def realtime_offsets(self):
        """[(CLOCK_REALTIME, how far that is ahead of the trace's time from then on)]"""
        clock = self.run["clock"]
        by_time = [[0, clock["realtime_offset_start_ns"]], *clock["realtime_offset_by_time"]]
        return [(at_ns + offset, offset) for at_ns, offset in by_time]

    def from_realtime(self, realtime_ns):
        """A moment of CLOCK_REALTIME, which may be set during the run, in the trace's time."""
        latest = bisect_right(self.realtime_offsets, realtime_ns, key=lambda entry: entry[0])
        return realtime_ns - self.realtime_offsets[max(latest - 1, 0)][1]

    def clock_bound_ns(self, at_ns):
        """How far apart a moment may be by the clock of the calls and by the kernel's: CLOCK_NS, or more where the trace itself says so
        of its clock around that moment (a machine whose time is being set right), but never more than CLOCK_WORST_NS."""
        stretches = self.run["clock"]["error_by_time"]
        here = max((number for number, (start, _) in enumerate(stretches) if start <= at_ns), default=0)
        errors = [error for _, error in stretches[max(here - 1, 0):here + 2]]  # an anchor bounds what lies on both of its sides
        return min(max([CLOCK_NS, *errors]), CLOCK_WORST_NS)

    def table(self, name):
        # Not pyarrow.dataset, which loads pandas: half of what a short case would take.
        parts = sorted((self.folder / "tables" / name).glob("*.parquet"))
        return pyarrow.concat_tables(pyarrow.parquet.ParquetFile(part).read() for part in parts)

    def rows(self, name):
        return self.table(name).to_pylist()

    @cached_property
    def names(self):
        return {row["name_id"]: row["name"] for row in self.rows("name")}

    @cached_property
    def paths(self):
        return {row["file_id"]: row["path"] for row in self.rows("file")}

    @cached_property
    def calls(self):
        """All rows of `call`, in the order of their beginning."""
        rows = sorted(self.rows("call"), key=lambda row: row["ts"])
        path = self.paths.get
        return [Call(row["pid"], row["tid"], row["proc_id"], row["image_id"], row["func"], row["fd"],
                     path(row["file_id"], ""), row["ts"], row["ts"] + row["dur"], row["offset"], row["offset_source"],
                     row["requested"], row["ret"], row["err"], row["flags"], row["arg2"], path(row["file2_id"], ""),
                     row["served_calls"], row["ofd_id"], row["via"], row["wanted_addr"]) for row in rows]

    def calls_of(self, *funcs, path=None, pid=None):
        return [call for call in self.calls if call.func in funcs and (path is None or call.path == str(path))
                and (pid is None or call.pid == pid)]

    def serials(self, path, func="pread"):
        """The numbers that a counting victim put into the offsets of its calls on `path`, per (process, thread)."""
        found = {}
        for call in self.calls_of(func, path=path):
            found.setdefault((call.proc_id, call.tid), []).append(call.offset)
        return found

    def dropped(self):
        """Dropped records of all threads, as counted by the trace."""
        return sum(row["count"] for row in self.rows("loss") if row["unit"] == "records")

    def dropped_by_kind(self):
        """The same by kind of record. The kind of each must be known."""
        counts = Counter()
        for row in self.rows("loss"):
            if row["unit"] == "records":
                counts[row["kind"]] += row["count"]
        return counts

    def covers(self, word):
        """Rows of `coverage` that contain `word`."""
        return [row for row in self.rows("coverage") if word in row["subject"] + " " + row["detail"]]
