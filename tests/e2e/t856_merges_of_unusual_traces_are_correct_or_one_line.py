# SPDX-License-Identifier: Apache-2.0
"""Merges of nodes with unusual input: keys of 63 bits, ids of several kinds in one column, barriers that are not as many everywhere or were
never left, clocks whose UTC the messages contradict, deleted tables, hosts and folders of one name, a trace given twice, runs of other times, a
full disk, Ctrl-C. Each merge is correct, or prints one line."""

import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet as pq
from lib import case, nodes

MS = 1_000_000
FILLED = {pa.types.is_boolean: False, pa.types.is_string: "x", pa.types.is_binary: b"x", pa.types.is_floating: 0.0, pa.types.is_integer: 1}


def filler(field):
    if field.nullable:
        return None
    return next(value for is_type, value in FILLED.items() if is_type(field.type))


def write_rows(trace, table, *rows):
    """These rows instead of the table's; columns that are not named get any value."""
    [path] = (trace / "tables" / table).glob("*.parquet")
    schema = pq.read_schema(path)
    fields = [pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type, field.nullable)
              for field in schema]
    rows = [{field.name: row.get(field.name, filler(field)) for field in fields} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(fields, schema.metadata)), path)


class Traces:
    """Copies of one small trace, as those of other machines with the same time."""

    def __init__(self, this):
        self.this, self.first, self.number = this, this.trace("true").folder, 0
        self.start_ns = this.opened(self.first).run["start_ns"]

    def copy(self, name="", folder=None, **changes):
        self.number += 1
        name = name or f"n{self.number}"
        copy = nodes.copy_of(self.first, folder or self.this.path(f"copy{self.number}"))

        def edit(run):
            run["host"] |= {"boot_id": f"boot {self.number}", "name": name}
            run["session"] = f"session {self.number}"
            run |= changes
        nodes.edit_run(copy, edit)
        return copy

    def with_marks(self, *ranges, **more):
        """`ranges`: begin and end in ms after the start, and whether it was never ended."""
        copy = self.copy(**more)
        write_rows(copy, "name", {"name_id": 1, "name": "barrier"})
        write_rows(copy, "mark", *({"ts": self.start_ns + begin * MS, "dur": (end - begin) * MS, "proc_id": 1, "name_id": 1, "mark_id": number,
                                    "scope": "thread", "domain": "api", "open": bool(is_open)}
                                   for number, (begin, end, *is_open) in enumerate(ranges, 1)))
        return copy

    def pair(self):
        """Two copies on one clock."""
        one = self.copy()
        host = self.this.opened(one).run["host"]
        return one, self.copy(host=host | {"name": f"beside {host['name']}"})

    def merge(self, *traces, options=(), status=0):
        self.number += 1
        self.out = self.this.path(f"merged{self.number}")
        done = nodes.merge(self.this, *traces, out=self.out, options=["--quiet", *options], status=status)
        return [line.removeprefix("mlrun: ") for line in done.stderr.splitlines()]

    def node(self):
        return nodes.merged(self.out)["nodes"][-1]


def check(this):
    this.mlrun = case.MLRUN
    traces = Traces(this)
    keys(this, traces)
    marks(this, traces)
    utc(this, traces)
    folders(this, traces)
    interrupted(this, traces)
    full_disk(this, traces)


def keys(this, traces):
    ids, scopes = [(1 << 62) + 5, (1 << 62) + 9], [("run", 0), ("kind", 2), ("process", 1), ("phase", 1), ("file", 1)]
    both = [traces.copy(), traces.copy()]
    for trace in both:
        write_rows(trace, "vfs", *({"op_id": one, "outer_op_id": ids[0], "ts": traces.start_ns} for one in ids))
        write_rows(trace, "summary_split", *({"scope": scope, "id": number} for scope, number in scopes))
        write_rows(trace, "file", {"file_id": 1}, {"file_id": 2})
        write_rows(trace, "phase", {"phase_id": 1, "ts": traces.start_ns, "dur": 5, "proc_id": 0})
        write_rows(trace, "access", {"ts": traces.start_ns + 7, "block_ts": traces.start_ns + 3, "block_addr": 1})
        write_rows(trace, "slice", {"slice_id": 3, "ts": traces.start_ns})
        write_rows(trace, "flow", {"flow_id": (1 << 62) + 1, "ts": traces.start_ns})
    traces.merge(*both, options=["--offset", "1s"])
    merged = this.opened(traces.out)
    second = {name: [row for row in merged.rows(name) if row["node_id"] == 2]
              for name in ("vfs", "summary_split", "access", "slice", "flow", "process", "file", "phase")}
    this.equal("numbers of 63 bits stay", [(row["op_id"], row["outer_op_id"]) for row in second["vfs"]], [(one, ids[0]) for one in ids])
    this.equal("and those of arrows", [row["flow_id"] for row in second["flow"]], [(1 << 62) + 1])
    of_scope = {row["scope"]: row["id"] for row in second["summary_split"]}
    this.equal("ids by their scope", of_scope, {
        "run": 0, "kind": 2, "process": min(row["proc_id"] for row in second["process"]),
        "phase": second["phase"][0]["phase_id"], "file": min(row["file_id"] for row in second["file"])})
    [access] = second["access"]
    this.equal("the block's moment moves with the others", access["ts"] - access["block_ts"], 4)
    this.equal("slices", [row["slice_id"] for row in merged.rows("slice")], [3, 6])


def marks(this, traces):
    options = ["--marks", "barrier"]
    first = traces.with_marks((0, 10), (100, 110), (200, 210))
    lines = traces.merge(first, traces.with_marks((1, 10), (101, 110), name="short"), options=options)
    this.equal("not as many", [line for line in lines if "paired by their number" in line], [
        f'process 1 of short has 2 ranges "barrier", process 1 of {nodes.merged(traces.out)["nodes"][0]["name"]} has 3: ranges are paired by '
        "their number, so the comparison is wrong if one near the beginning is missing"])
    # It was killed in its third barrier, before the other one began it.
    lines = traces.merge(first, traces.with_marks((1, 10), (101, 110), (150, 160, True)), options=options)
    this.equal("never left", (lines, traces.node()["widened_ns"], traces.node()["marks"]), ([], 0, 3))
    lines = traces.merge(first, traces.with_marks((1, 10), (101, 110), (500, 510)), options=options)
    this.true("clocks of no line", any("does not grow evenly" in line for line in lines), lines)
    this.true("it is in the error", traces.node()["error_ns"] > 200 * MS, traces.node())


def utc(this, traces):
    """Its wall clock is a second off, and said to be right."""
    clock = this.opened(traces.first).run["clock"]
    for when in ("start", "end"):
        clock[when]["discipline"] = {"is_synchronised": True, "max_error_ns": MS}
    wrong = clock | {f"realtime_offset_{when}_ns": clock[f"realtime_offset_{when}_ns"] + 1000 * MS for when in ("start", "end")}
    here = traces.with_marks((0, 10), (100, 110), clock=clock)
    lines = traces.merge(here, traces.with_marks((1, 10), (101, 110), clock=wrong), options=["--marks", "barrier"])
    this.true("said", len(lines) == 1 and "contradict the UTC of their clocks" in lines[0], lines)
    node = traces.node()
    this.true("the messages count", abs(node["offset_ns"]) <= 10 * MS and node["error_ns"] < 60 * MS and node["widened_ns"] == 0, node)
    this.equal("no contradiction", traces.merge(here, traces.with_marks((1, 10), (101, 110), clock=clock), options=["--marks", "barrier"]), [])


def folders(this, traces):
    first, other = traces.copy(name="same", folder=this.path("a") / "trace"), traces.copy(name="same", folder=this.path("b") / "trace")
    traces.merge(first, other)
    this.equal("names that differ", [row["name"] for row in nodes.merged(traces.out)["nodes"]], [str(first), str(other)])
    imported = [traces.copy(session="", clock={})]
    link = this.path("link")
    link.symlink_to(imported[0])
    this.equal("twice, and no session", traces.merge(imported[0], link, status=125)[:-1], [f"{link} is left out: it is the same trace as {imported[0]}"])
    clock = this.opened(traces.first).run["clock"]
    hours = 7200 * 1000 * MS
    before = traces.copy(clock=clock | {f"realtime_offset_{when}_ns": clock[f"realtime_offset_{when}_ns"] - hours for when in ("start", "end")})
    this.true("another time", "did not run at the time of" in traces.merge(traces.first, before, status=125)[0], "")
    traces.merge(traces.first, before, options=["--offset", "1s"])
    this.equal("with an offset it is merged", traces.node()["aligned_by"], "given")
    lines = traces.merge(traces.first, this.path("absent"), options=["--offset", "1s"], status=125)
    this.true("why they are not two", "does not exist" in lines[0] and "--offset needs exactly two traces" in lines[1] and len(lines) == 2, lines)
    bare = traces.copy()
    for table in ("call", "file", "mark", "name"):
        for path in (bare / "tables" / table).iterdir():
            path.unlink()
    nodes.edit_run(bare, lambda run: [run["tables"].pop(table) for table in ("call", "file", "mark", "name")])
    lines = traces.merge(traces.first, bare, options=["--marks", "barrier"])
    this.equal("deleted tables", len(nodes.merged(traces.out)["nodes"]), 2, said=lines)


def interrupted(this, traces):
    many = [traces.copy() for _ in range(24)]
    out = this.path("stopped")
    with subprocess.Popen([str(case.MLRUN), "merge", *map(str, many), "-o", str(out), "--threads", "1"], env=this.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while not (out / "tables").exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    this.equal("ended by the signal", process.returncode, -signal.SIGINT, said=said)
    this.true("nothing is left", not out.exists(), list(out.rglob("*"))[:5] if out.exists() else "")


def full_disk(this, traces):
    try:
        case.need_mounts()
    except case.Skip:
        return
    small = this.path("small")
    small.mkdir()
    done = this.run("unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=200k tmpfs {small} && "
                    f"{case.MLRUN} merge {traces.first} {traces.copy()} -o {small}/new; code=$?; ls {small}; exit $code")
    lines = done.stderr.splitlines()
    this.equal("a full disk", (done.returncode, done.stdout, len(lines)), (125, "", 1), said=done.stderr)
    this.true("it says so", "No space left on device" in lines[0], lines)


if __name__ == "__main__":
    case.run(check)
