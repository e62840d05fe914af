# SPDX-License-Identifier: Apache-2.0
"""The Python package on a trace of a real program, against PyArrow and what the program is known to do.

Usage: mlrun_trace_test.py MLRUN [CASE...]
"""

import collections
import concurrent.futures
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[2] / "runner" / "python"
sys.path.insert(0, str(PACKAGE))
import mlrun_trace

MLRUN = sys.argv.pop(1)
READS, BYTES = 300, 4096
PROGRAM = f"""
import os, sys
path = sys.argv[1]
with open(path, "wb", buffering=0) as file:
    file.write(bytes({READS * BYTES}))
def read():
    fd = os.open(path, os.O_RDONLY)
    for i in range({READS}):
        os.pread(fd, {BYTES}, i * {BYTES})
    os.close(fd)
read()
child = os.fork()
if child == 0:
    read()
    os._exit(0)
os.waitpid(child, 0)
"""


def table_of(folder, name):
    return pa.concat_tables(pq.read_table(part) for part in sorted((folder / "tables" / name).glob("*.parquet")))


def write_rows(folder, name, rows):
    """Gives a table rows, in its own columns; the others are null, or 0 where they may not be."""
    path = folder / "tables" / name / "part-00000.parquet"
    columns = {}
    for field in pq.read_schema(path):
        missing = None if field.nullable else "" if pa.types.is_string(field.type) else 0
        columns[field.name] = pa.array([row.get(field.name, missing) for row in rows]).cast(field.type)
    pq.write_table(pa.table(columns), path)


class OfARealProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.data = str(cls.folder / "it's data")
        cls.record("one")
        cls.record("two")
        cls.trace = mlrun_trace.open(cls.folder / "one")

    @classmethod
    def record(cls, name):
        command = [MLRUN, "--preload", "--quiet", "-o", str(cls.folder / name), "--", sys.executable, "-c", PROGRAM, cls.data]
        subprocess.run(command, check=True, capture_output=True)

    def test_every_table_exists_and_has_the_rows_of_its_files(self):
        self.assertEqual(self.trace.tables, sorted(path.name for path in (self.folder / "one" / "tables").iterdir()))
        for name in ("call", "alloc", "file", "gpu_kernel"):
            self.assertTrue(self.trace.table(name).arrow().num_rows == table_of(self.folder / "one", name).num_rows, name)

    def test_the_four_forms_of_rows_agree(self):
        rows = self.trace.sql("SELECT func, count(*) AS n FROM call GROUP BY func ORDER BY func;")
        expected = sorted(collections.Counter(table_of(self.folder / "one", "call")["func"].to_pylist()).items())
        self.assertEqual([(row["func"], row["n"]) for row in rows.rows()], expected)
        self.assertEqual(list(rows.pandas().itertuples(index=False, name=None)), expected)
        self.assertEqual(rows.polars().rows(), expected)
        self.assertEqual(rows.duckdb().fetchall(), expected)
        self.assertEqual(len(rows), len(expected))

    def test_time_by_file_agrees_with_the_program(self):
        row = next(row for row in self.trace.time_by_file().rows() if row["path"] == self.data)
        self.assertEqual((row["bytes_read"], row["bytes_written"], row["processes"]), (2 * READS * BYTES, READS * BYTES, 2))
        calls = table_of(self.folder / "one", "call").to_pylist()
        mine = [call for call in calls if call["file_id"] == row["file_id"]]
        self.assertEqual((row["calls"], row["time_ns"]), (len(mine), sum(call["dur"] for call in mine)))

    def test_time_by_worker_has_both_processes(self):
        calls = collections.Counter(table_of(self.folder / "one", "call")["proc_id"].to_pylist())
        rows = self.trace.time_by_worker().rows()
        self.assertEqual({row["proc_id"]: row["calls"] for row in rows}, dict(calls))
        self.assertTrue(all(row["files_ns"] <= row["time_ns"] for row in rows), rows)

    def test_findings_have_their_proof(self):
        findings = self.trace.findings().rows()
        self.assertEqual(len(findings), table_of(self.folder / "one", "finding").num_rows)
        for number, finding in enumerate(findings, 1):
            self.assertEqual(finding["number"], number)
            self.assertTrue(finding["cause"] and finding["claim"] and finding["command"], finding)

    def test_several_traces_are_one(self):
        with mlrun_trace.open_all([self.folder / "one", self.folder / "two"]) as both:
            rows = both.sql("SELECT run, count(*) AS n FROM call GROUP BY run ORDER BY run").rows()
            expected = [{"run": name, "n": table_of(self.folder / name, "call").num_rows} for name in ("one", "two")]
            self.assertEqual(rows, expected)
            with self.assertRaisesRegex(mlrun_trace.TraceError, "open one of them"):
                both.time_by_file()

    def test_the_time_by_layer_adds_up(self):
        folder = self.folder / "layers"
        shutil.copytree(self.folder / "one", folder)
        calls = table_of(folder, "call")
        split = calls.set_column(calls.schema.get_field_index("own_ns"), "own_ns", calls["dur"].cast(pa.int64()))
        for layer in ("runq_ns", "vfs_ns", "queue_ns", "device_ns", "remote_ns", "wait_ns"):
            zeros = pa.array([0] * calls.num_rows, pa.int64())
            split = split.set_column(split.schema.get_field_index(layer), layer, zeros)
        pq.write_table(split, folder / "tables" / "call" / "part-00000.parquet")
        trace = mlrun_trace.open(folder)
        whole = sum(calls["dur"].to_pylist())
        for by in ("run", "process", "function"):
            rows = trace.time_by_layer(by=by).rows()
            self.assertEqual(sum(row["own_ns"] for row in rows), whole, by)
            self.assertEqual(sum(row["time_ns"] for row in rows), whole, by)
        self.assertEqual(len(trace.time_by_layer(by="process")), 2)
        with self.assertRaisesRegex(mlrun_trace.TraceError, "use one of run, process"):
            trace.time_by_layer(by="month")

    def test_joins_of_tables_that_need_other_hardware(self):
        folder = self.folder / "filled"
        shutil.copytree(self.folder / "one", folder)
        call = next(row for row in table_of(folder, "call").to_pylist() if row["func"] == "pread")
        write_rows(folder, "device", [{"dev": 2049, "name": "sda"}])
        write_rows(folder, "block", [{"req_id": 7, "dev": 2049, "ts": 100, "ts_issue": 120, "ts_done": 150, "bytes": BYTES, "op": "read"}])
        write_rows(folder, "block_part", [{"req_id": 7, "call_id": call["call_id"], "bio_lo": 0, "bio_hi": BYTES}, {"req_id": None}])
        write_rows(folder, "gpu", [{"gpu_id": 1, "name": "GPU"}])
        write_rows(folder, "gpu_idle", [{"ts": 5, "dur": 10, "gpu_id": 1, "label": "file", "call_id": call["call_id"], "proc_id": call["proc_id"],
                                         "thread_id": call["thread_id"], "file_id": call["file_id"], "proof": "call"}])
        start, half = call["ts"] - 1000, 10**15
        write_rows(folder, "step", [{"step": 1, "ts": start, "dur": half}, {"step": 2, "ts": start + half, "dur": half}])
        trace = mlrun_trace.open(folder)
        (request,) = trace.calls_with_requests().rows()
        self.assertEqual((request["func"], request["path"], request["device"], request["request_device_ns"]), ("pread", self.data, "sda", 30))
        (piece,) = trace.gpu_idle().rows()
        self.assertEqual((piece["gpu"], piece["path"], piece["func"], piece["tid"]), ("GPU", self.data, "pread", None))
        first, second = trace.time_by_step().rows()
        later = sum(1 for row in table_of(folder, "call").to_pylist() if row["ts"] >= start)
        self.assertEqual((first["calls"], second["calls"], second["calls_ns"]), (later, 0, 0))

    def test_nodes_of_a_merged_trace_stay_apart(self):
        nodes = [self.folder / "node1", self.folder / "node2"]
        for folder in nodes:
            shutil.copytree(self.folder / "one", folder)
            facts = json.loads((folder / "run.json").read_text())
            facts["session"] = facts["host"]["name"] = folder.name
            (folder / "run.json").write_text(json.dumps(facts))
            call = next(row for row in table_of(folder, "call").to_pylist() if row["func"] == "pread")
            write_rows(folder, "device", [{"dev": 2049, "name": f"disk of {folder.name}"}])
            write_rows(folder, "block", [{"req_id": 7, "dev": 2049, "ts": 100, "ts_issue": 120, "ts_done": 150, "bytes": BYTES, "op": "read"}])
            write_rows(folder, "block_part", [{"req_id": 7, "call_id": call["call_id"], "bio_lo": 0, "bio_hi": BYTES}])
            write_rows(folder, "step", [{"step": 1, "ts": call["ts"] - 1000, "dur": 10**15}])
        subprocess.run([MLRUN, "merge", "--quiet", *map(str, nodes), "-o", str(self.folder / "both")], check=True, capture_output=True)
        trace = mlrun_trace.open(self.folder / "both")
        self.assertEqual({row["device"] for row in trace.calls_with_requests().rows()}, {"disk of node1", "disk of node2"})
        self.assertEqual(len(trace.calls_with_requests()), 2)
        steps = [mlrun_trace.open(folder).time_by_step().rows()[0] for folder in nodes]
        self.assertEqual([(row["node_id"], row["step"], row["calls"]) for row in trace.time_by_step().rows()],
                         [(number, 1, row["calls"]) for number, row in enumerate(steps, 1)])
        self.assertGreater(steps[0]["calls"], READS)
        options = mlrun_trace.plot.options.Options(by="process")
        rows = mlrun_trace.plot.timeline.collect(trace, options)["work"]
        self.assertEqual({row["process"].partition(" on ")[2] for row in rows}, {"node1", "node2"})
        alone = mlrun_trace.plot.timeline.collect(mlrun_trace.open(nodes[0]), options)["work"]
        self.assertEqual(sum(row["calls"] for row in rows), 2 * sum(row["calls"] for row in alone))

    def test_a_folder_of_any_name_is_opened(self):
        odd = self.folder / "odd"
        shutil.copytree(self.folder / "one", odd / "t1")
        shutil.copytree(self.folder / "one", odd / "tt")
        calls = table_of(self.folder / "one", "call")
        for name in ("t[1]", "t*", "t?", "t[!a]", "t{1,2}", "t'\"", "t\\t", "t\u00fc\n"):
            shutil.copytree(self.folder / "one", odd / name)
            write_rows(odd / name, "call", calls.slice(1).to_pylist())
        for folder in odd.iterdir():
            wanted = calls.num_rows - (folder.name not in ("t1", "tt"))
            self.assertEqual(len(mlrun_trace.open(folder).table("call")), wanted, folder)
            with mlrun_trace.open_all([folder, self.folder / "one"]) as both:
                rows = both.sql("SELECT run, count(*) AS n FROM call GROUP BY run -- no more").rows()
                self.assertEqual({row["run"]: row["n"] for row in rows}, {folder.name: wanted, "one": calls.num_rows})
        before = os.getcwd()
        os.chdir(self.folder / "one")
        try:
            self.assertEqual(mlrun_trace.open_all([".", "../two"]).names, ["one", "two"])
            self.assertEqual(mlrun_trace.open_all("../two").names, ["two"])
        finally:
            os.chdir(before)

    def test_threads_and_processes_may_share_it(self):
        wanted = table_of(self.folder / "one", "call").num_rows
        trace = mlrun_trace.open(self.folder / "one")

        def answers(number):
            return [trace.sql(f"SELECT {number} AS number, count(*) AS n FROM call").rows() for _ in range(20)]

        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            for number, rows in enumerate(threads.map(answers, range(8))):
                self.assertEqual(rows, [[{"number": number, "n": wanted}]] * 20)
        self.assertEqual(len(pickle.loads(pickle.dumps(trace)).table("call")), wanted)
        files = trace.table("file").duckdb()
        joined = trace.table("call").duckdb().join(files, "file_id").aggregate("count(*)").fetchall()
        self.assertEqual(joined, [(sum(row["file_id"] is not None for row in trace.table("call").rows()),)])

    def test_damaged_and_deleted_files_are_errors_of_the_package(self):
        folder = self.folder / "damaged"
        shutil.copytree(self.folder / "one", folder)
        (folder / "tables" / "call" / "part-00000.parquet").write_bytes(b"no table")
        with self.assertRaisesRegex(mlrun_trace.TraceError, "call/part-00000.parquet"):
            mlrun_trace.open(folder).time_by_file().rows()
        shutil.rmtree(folder / "tables")
        with self.assertRaisesRegex(mlrun_trace.TraceError, "damaged/tables: No such file"):
            mlrun_trace.open(folder).table("call")
        for text in ("[]", "{", '{"schema_version": "x"}', "null"):
            (folder / "run.json").write_text(text)
            with self.assertRaisesRegex(mlrun_trace.TraceError, "run.json is damaged"):
                mlrun_trace.open(folder)
        with self.assertRaisesRegex(mlrun_trace.TraceError, "UTF-8"):
            mlrun_trace.open(os.fsdecode(b"\xff"))
        with self.assertRaisesRegex(mlrun_trace.TraceError, "syntax error"):
            self.trace.sql("SELEC 1").rows()

    def test_errors_say_what_to_do(self):
        for folder, text in ((self.folder, "is no trace"), (self.folder / "none", "is no trace")):
            with self.assertRaisesRegex(mlrun_trace.TraceError, text):
                mlrun_trace.open(folder)
        with self.assertRaisesRegex(mlrun_trace.TraceError, "there is no table calls: it has access, "):
            self.trace.table("calls")
        with self.assertRaisesRegex(mlrun_trace.TraceError, "named twice"):
            mlrun_trace.open_all([self.folder / "one", self.folder / "one"])
        with self.assertRaisesRegex(mlrun_trace.TraceError, "no picture timelines; choose one of timeline, "):
            mlrun_trace.plot.draw(self.trace, "timelines", self.folder / "a.svg")
        with self.assertRaisesRegex(mlrun_trace.TraceError, "is no sweep"):
            mlrun_trace.open_sweep(self.folder)


class OfASweep(unittest.TestCase):
    """Two repetitions of a recorded command, of which the sweep keeps the tables of one, and a first attempt that failed."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        job = f"sh -c 'cat /etc/passwd; [ -e {cls.folder}/again ] || {{ touch {cls.folder}/again; exit 3; }}'"
        plan = cls.folder / "plan.toml"
        plan.write_text(f'repetitions = 2\nretries = 1\nworkloads = ["{job}"]\n[[configuration]]\nname = "full"\n')
        subprocess.run([MLRUN, "sweep", "--quiet", str(plan), "-o", str(cls.folder / "out")], check=True, capture_output=True)
        cls.sweep = mlrun_trace.open_sweep(cls.folder / "out")

    def test_its_traces_are_those_with_all_tables(self):
        runs = self.folder / "out" / "runs"
        self.assertEqual(len(list(runs.iterdir())), 3)
        names = [path.name for path in runs.iterdir() if path.name.endswith(".full.1")]
        rows = self.sweep.traces().table("call").rows()
        self.assertEqual(self.sweep.traces().names, names)
        self.assertEqual(len(rows), table_of(runs / names[0], "call").num_rows)

    def test_a_sweep_is_not_opened_as_a_trace(self):
        with self.assertRaisesRegex(mlrun_trace.TraceError, r"is a sweep: use open_sweep\(\)"):
            mlrun_trace.open(self.folder / "out")

    def test_deleted_tables_are_an_error_with_the_reason(self):
        (later,) = (self.folder / "out" / "runs").glob("*.full.2")
        trace = mlrun_trace.open(later)
        self.assertGreater(len(trace.table("summary_file")), 0)
        for query in (lambda: trace.table("call"), lambda: trace.sql("FROM call").rows(), lambda: trace.time_by_file().rows()):
            with self.assertRaisesRegex(mlrun_trace.TraceError, "call.*with --all"):
                query()


class WithoutItsExtras(unittest.TestCase):
    def test_the_error_names_the_package_to_install(self):
        code = "import mlrun_trace\ntry:\n  mlrun_trace.errors.need('duckdb')\nexcept mlrun_trace.TraceError as e: print(e)"
        run = subprocess.run([sys.executable, "-S", "-c", code], check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True)
        self.assertIn("pip install duckdb", run.stdout, run.stderr)


class Types(unittest.TestCase):
    def test_a_program_that_uses_all_of_it_passes_mypy(self):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--no-warn-unused-ignores", str(HERE / "all_of_it.py")]
        run = subprocess.run(command, check=False, env={**os.environ, "MYPYPATH": str(PACKAGE)}, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
