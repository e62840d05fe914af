# SPDX-License-Identifier: Apache-2.0
"""Pictures of a trace of a real program: their numbers against the tables, their files against what was asked for.

Usage: plot_test.py MLRUN [CASE...]
"""

import collections
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

PACKAGE = Path(__file__).resolve().parents[3] / "runner" / "python"
sys.path.insert(0, str(PACKAGE))
import mlrun_trace
from mlrun_trace.plot import __main__ as plot_command
from mlrun_trace.plot import draw, sweep

MLRUN = sys.argv.pop(1)
# Threads of hostile names read and write; a child does so, too; marks; blocks of memory that live at known times.
PROGRAM = f"""
import os, sys, time
sys.path.insert(0, {str(PACKAGE)!r})
import mlrun_mark
def work(path):
    with open(path, "wb", buffering=0) as file:
        for i in range(200):
            file.write(bytes(1 << (i % 16)))
    fd = os.open(path, os.O_RDONLY)
    for i in range(500):
        os.pread(fd, 1 << (i % 16), 0)
    os.close(fd)
open("/proc/self/comm", "w").write("$a^{{2}}$<&>")
for step in range(5):
    with mlrun_mark.range("step $x_1$ <b>"):
        work(sys.argv[1] + "/$dollar^2$")
        kept = bytearray(3 << 20)
        time.sleep(0.02)
        del kept
for name in ("\u6570 --> \u636e", "\u6570 --> \u6570"):
    with mlrun_mark.range(name):
        pass
for turn in range(20):
    with mlrun_mark.range("batch"):
        time.sleep(0.001 + 0.0002 * turn)
if os.fork() == 0:
    work(sys.argv[1] + "/child")
    os._exit(0)
os.wait()
"""


def rows_of(folder, name):
    return pa.concat_tables(pq.read_table(part) for part in sorted((folder / "tables" / name).glob("*.parquet"))).to_pylist()


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.trace = cls.folder / "trace"
        command = [MLRUN, "--preload", "--quiet", "-o", str(cls.trace), "--", sys.executable, "-c", PROGRAM, str(cls.folder)]
        subprocess.run(command, check=True, capture_output=True)
        cls.files = {row["file_id"]: row for row in rows_of(cls.trace, "file")}
        cls.classes = {row["func"]: row["class"] for row in rows_of(cls.trace, "summary_func")}
        cls.facts = json.loads((cls.trace / "run.json").read_text())

    def plot(self, *words, status=0):
        """What the command says on stderr. It runs in this process: to load matplotlib takes longer than to draw."""
        said = io.StringIO()
        with mock.patch("sys.argv", ["plot", str(self.trace), *words]), redirect_stdout(io.StringIO()), redirect_stderr(said):
            self.assertEqual(plot_command.main(), status, said.getvalue())
        return said.getvalue()

    def calls(self, *classes):
        """Calls on files of these classes."""
        kinds = ("regular", "directory", "block", "link", "unknown")
        return [row for row in rows_of(self.trace, "call") if self.classes.get(row["func"]) in classes
                and self.files.get(row["file_id"], {"kind": "regular"})["kind"] in kinds]

    def test_histograms_count_every_call(self):
        out = self.folder / "latency.svg"
        self.plot("--what", "latency", "-o", str(out))
        bins = read_csv(self.folder / "latency.histogram.csv")
        for operation in ("open", "read", "write"):
            durations = sorted(row["dur"] for row in self.calls(operation) if row["err"] == 0 and row["dur"] > 0)
            mine = [row for row in bins if row["operation"] == operation and row["process"] == "all"]
            self.assertEqual(sum(int(row["count"]) for row in mine), len(durations), operation)
            for row in mine:
                inside = sum(1 for ns in durations if float(row["low"]) * 0.999999 <= ns < float(row["high"]) * 0.999999)
                self.assertEqual(int(row["count"]), inside, row)

    def test_sizes_are_the_bytes_that_the_calls_moved(self):
        self.plot("--what", "sizes", "--by", "run", "-o", str(self.folder / "sizes.pdf"))
        bins = read_csv(self.folder / "sizes.histogram.csv")
        wanted = collections.Counter(row["ret"].bit_length() - 1 for row in self.calls("write") if row["ret"] > 0)
        counted = collections.Counter()
        for row in bins:
            if row["operation"] == "write" and row["process"] == "all":
                counted[int(float(row["low"]) + 1e-6).bit_length() - 1] += int(row["count"])
        self.assertEqual(counted, wanted)

    def test_the_timeline_has_the_time_of_every_call(self):
        self.plot("--what", "timeline", "-o", str(self.folder / "timeline.png"))
        work = read_csv(self.folder / "timeline.work.csv")
        self.assertEqual(len({row["process"] for row in work}), 2)
        start, end = self.facts["start_ns"], self.facts["start_ns"] + self.facts["wall_ns"]
        for what in ("open", "read", "write"):
            inside = [row for row in self.calls(what) if row["ts"] < end and row["ts"] + row["dur"] >= start]
            mine = [row for row in work if row["what"] == what]
            self.assertEqual(sum(int(row["calls"]) for row in mine), len(inside), what)
            seconds = sum(float(row["busy"]) * float(row["length_s"]) for row in mine)
            self.assertAlmostEqual(seconds, sum(row["dur"] for row in inside) / 1e9, delta=1e-6, msg=what)

    def test_the_timeline_of_another_tools_trace_has_its_calls(self):
        text = self.folder / "strace.txt"
        text.write_text('7 1.000001 openat(AT_FDCWD, "/data", O_RDONLY) = 3 <0.000010>\n7 1.000101 read(3, "abc", 4096) = 3 <0.000020>\n')
        for what, file in (("strace", text), ("nothing", self.folder / "c.json")):
            (self.folder / "c.json").write_text('{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}')
            subprocess.run([MLRUN, "import", str(file), "-o", str(self.folder / what), "--quiet"], check=True, capture_output=True)
        drawn = draw(mlrun_trace.open(self.folder / "strace"), "timeline", self.folder / "strace.svg")
        work = read_csv(next(path for path in drawn if path.name.endswith(".work.csv")))
        self.assertEqual([(row["what"], row["calls"]) for row in work], [("open", "1"), ("read", "1")])
        with self.assertRaisesRegex(mlrun_trace.TraceError, "^nothing has no phases, samples"):
            draw(mlrun_trace.open(self.folder / "nothing"), "timeline", self.folder / "nothing.svg")

    def disk_megabytes(self, name, megabytes):
        """What the timeline shows of a trace with these bytes read by device."""
        stacked = self.folder / name
        shutil.copytree(self.trace, stacked)
        (part,) = (stacked / "tables" / "sample_disk").glob("*.parquet")
        schema = pq.read_schema(part)
        blank = {field.name: 0 for field in schema if pa.types.is_integer(field.type)}
        rows = [blank | {"ts": self.facts["start_ns"], "dur": 100_000_000, "device": device, "read_bytes": read * 10**5, "written_bytes": 0}
                for device, read in megabytes.items()]
        pq.write_table(pa.Table.from_pylist(rows, schema), part)
        drawn = draw(mlrun_trace.open(stacked), "timeline", self.folder / f"{name}.svg")
        (disk,) = read_csv(next(path for path in drawn if path.name.endswith(".disk.csv")))
        return float(disk["read_mb_per_s"])

    def test_the_timeline_counts_bytes_of_stacked_disks_once(self):
        megabytes = {"vda": 7, "dm-0": 7, "dm-1": 7, "md127": 7, "loop3": 2, "nvme0c0n1": 3, "nvme0c1n1": 5, "nvme0n1": 8, "nvme1n1": 1}
        self.assertAlmostEqual(self.disk_megabytes("stacked", megabytes), 7 + 3 + 5 + 1)

    def test_the_timeline_counts_a_loop_device_without_a_disk_below(self):
        self.assertAlmostEqual(self.disk_megabytes("loop_and_disk", {"vda": 1, "dm-0": 40, "loop3": 40, "loop4": 1}), 1 + 40)
        self.assertAlmostEqual(self.disk_megabytes("loops_alone", {"loop3": 4, "loop4": 2}), 4 + 2)

    def test_a_part_of_the_time_is_cut_out(self):
        reads = sorted(row["ts"] for row in self.calls("read"))
        begin = (reads[len(reads) // 2] - self.facts["start_ns"]) // 1_000_000
        self.plot("--what", "timeline", "--from", f"{begin}ms", "--until", f"{begin + 2}ms", "-o", str(self.folder / "part.png"))
        (span,) = read_csv(self.folder / "part.span.csv")
        self.assertAlmostEqual(float(span["from_s"]), begin / 1e3)
        self.assertAlmostEqual(float(span["until_s"]), begin / 1e3 + 0.002)
        for row in read_csv(self.folder / "part.work.csv"):
            self.assertTrue(begin / 1e3 - 1e-9 <= float(row["start_s"]) <= begin / 1e3 + 0.002, row)

    def test_blocks_of_memory_live_as_long_as_in_the_program(self):
        self.plot("--what", "scatter", "-o", str(self.folder / "scatter.png"))
        mine = [row for row in read_csv(self.folder / "scatter.lifetimes.csv") if 3 << 20 <= int(row["bytes"]) < (3 << 20) + 8192]
        self.assertEqual(len(mine), 5)
        for row in mine:
            self.assertTrue(0.02 <= float(row["length_s"]) < 1, row)

    def test_the_address_axis_leaves_out_untouched_ranges(self):
        self.plot("--what", "scatter", "-o", str(self.folder / "compact.png"))
        regions = read_csv(self.folder / "compact.regions.csv")
        place = 0
        for row in regions:
            self.assertEqual(int(row["compact_addr"]), place)
            place += int(row["bytes"])
        for row in read_csv(self.folder / "compact.lifetimes.csv"):
            home = next(r for r in regions if int(r["addr"]) <= int(row["addr"]) < int(r["addr"]) + int(r["bytes"]))
            self.assertEqual(int(row["compact_addr"]) - int(home["compact_addr"]), int(row["addr"]) - int(home["addr"]))

    def test_marks_have_their_medians(self):
        self.plot("--what", "steps", "-o", str(self.folder / "steps.png"))
        (mark,) = (row for row in read_csv(self.folder / "steps.marks.csv") if "$x_1$" in row["name"])
        self.assertEqual(mark["count"], "5")
        self.assertTrue(0.02 <= float(mark["median_s"]) < 1, mark)

    def test_names_that_the_font_does_not_have_differ(self):
        out = self.folder / "names.svg"
        self.assertEqual(self.plot("--what", "steps", "-o", str(out)), "")
        xml.dom.minidom.parse(str(out))  # is well-formed
        drawn = set(re.findall(r"<!-- (.*) × 1 -->", out.read_text()))
        self.assertLessEqual({r"\u6570 - -&gt; \u636e", r"\u6570 - -&gt; \u6570"}, drawn)

    def test_a_parameter_is_a_number_if_all_its_values_are(self):
        rows = [{"parameter_x": text} for text in ("1", "2.5", "1e300")]
        self.assertEqual(sweep.parameter_of(rows, "x"), [1, 2.5, 1e300])
        for odd in ("nan", "inf", "a", None):
            self.assertEqual(sweep.parameter_of([*rows, {"parameter_x": odd}], "x"), ["1", "2.5", "1e300", str(odd)])
        for most in (4, 1e300):
            (line,) = sweep.lines([{"series": "a", "x": float(x), "value": 3 * x / most + 1} for x in (0, most / 4, most / 2, most)])
            self.assertAlmostEqual(line["slope"] * most, 3)
            self.assertAlmostEqual(line["intercept"], 1)

    def test_normal_distributions_are_fitted_without_the_extremes(self):
        self.plot("--what", "steps", "-o", str(self.folder / "fitted.png"))
        fit = next(row for row in read_csv(self.folder / "fitted.fits.csv") if row["name"] == "batch")
        names = {row["name_id"]: row["name"] for row in rows_of(self.trace, "name")}
        durations = [row["dur"] for row in rows_of(self.trace, "mark") if (row["text"] or names.get(row["name_id"])) == "batch" and row["dur"] is not None]
        self.assertEqual(len(durations), 20)
        hundredths = statistics.quantiles(durations, n=100, method="inclusive")
        kept = [ns for ns in durations if hundredths[0] <= ns <= hundredths[-1]]
        self.assertEqual(int(fit["n"]), len(kept))
        self.assertAlmostEqual(float(fit["mean_s"]), statistics.mean(kept) / 1e9, delta=1e-9)
        self.assertAlmostEqual(float(fit["std_s"]), statistics.stdev(kept) / 1e9, delta=1e-9)
        self.assertEqual(sum(int(row["count"]) for row in read_csv(self.folder / "fitted.durations.csv") if row["name"] == "batch"), len(kept))

    def test_the_part_that_is_shown_is_named_in_options(self):
        said = self.plot("--what", "scatter", "--block-bits", "16", "-o", str(self.folder / "part.png"))
        words = re.search(r"shown, to go on from: (.*)", said).group(1).split()
        first = read_csv(self.folder / "part.regions.csv")
        self.plot("--what", "scatter", *words, "-o", str(self.folder / "again.png"))
        self.assertEqual(read_csv(self.folder / "again.regions.csv"), first)

    def test_a_line_has_its_text(self):
        out = self.folder / "line.svg"
        self.plot("--what", "timeline", "--line", "20ms=here", "--no-data", "-o", str(out))
        self.assertIn("<!-- here -->", out.read_text())

    def test_files_are_of_the_kind_and_size_asked_for(self):
        for ending, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
            out = self.folder / f"kind.{ending}"
            self.plot("--what", "latency", "--columns", "1", "--no-data", "-o", str(out))
            self.assertTrue(out.read_bytes().startswith(begin), ending)
        width = re.search(r'width="([0-9.]+)pt"', (self.folder / "kind.svg").read_text()).group(1)
        self.assertAlmostEqual(float(width), 3.5 * 72, delta=1)
        self.assertNotIn("font-family", (self.folder / "kind.svg").read_text())
        self.assertIn(b"FontFile", (self.folder / "kind.pdf").read_bytes())
        self.assertFalse(list(self.folder.glob("kind.*.csv")))

    def test_errors_say_what_to_do_and_leave_nothing(self):
        cases = ((("--what", "latency", "-o", "x.jpg"), r"\.svg, \.png, \.pdf"), (("--what", "latency", "-o", "nowhere/x.png"), "no folder nowhere"),
                 (("--what", "sweep", "-o", "x.png"), "needs a sweep"), (("--what", "timeline", "--from", "soon", "-o", "x.png"), "'soon' is not a time"),
                 (("--what", "timeline", "--from", "1h", "-o", "x.png"), "the run took"), (("--what", "timeline", "--zoom", "epoch", "-o", "x.png"), "--mllog"),
                 (("--what", "timeline", "--line", "5s", "-o", "x.png"), "TIME=TEXT"))
        before = set(os.listdir())
        for words, text in cases:
            self.assertRegex(self.plot(*words, status=125), text)
        self.assertEqual(set(os.listdir()), before)


if __name__ == "__main__":
    unittest.main()
