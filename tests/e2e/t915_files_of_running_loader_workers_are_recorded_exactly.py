# SPDX-License-Identifier: Apache-2.0
"""--pid and --system: the reads of two running loader workers have each file by its path, one opened before and the
others only briefly, with as many reads and bytes as the workers make. What does not fit is counted."""

import signal
import subprocess
import sys

from lib import case, labels
from lib.kernel_side import is_in_container, need_kernel_side, wait_until_observing
from lib.killed_collector import wait_for

FILES, EPOCHS, SIZE = 20, 5, 64 << 10
LOADER = """
import os, sys, time
folder, go, files, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for worker in range(2):
    if os.fork() == 0:
        index = os.open(f"{folder}/index", os.O_RDONLY)
        open(f"{folder}/ready{worker}", "w").close()
        while not os.path.exists(go): time.sleep(0.01)
        for epoch in range(epochs):
            for number in range(worker, files, 2):
                os.pread(index, 8, number * 8)
                fd = os.open(f"{folder}/sample{number}", os.O_RDONLY)
                while os.read(fd, 16384): pass
                os.close(fd)
        os._exit(0)
print(os.getpid(), flush=True)
os.wait(), os.wait()
"""
LOOP = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
for _ in range(20000): os.pread(fd, 512, 0)
print("done", flush=True)
sys.stdin.read()
"""


def observe(this, out, *options):
    said = this.path(f"{out.name}.said")
    with open(said, "w", encoding="utf-8") as stderr:
        mlrun = subprocess.Popen([case.MLRUN, "--kprobes=block,wait,vfs", "-o", out, *options], stderr=stderr,
                                 cwd=this.folder, env=this.environment)
    wait_until_observing(mlrun, said)
    return mlrun


def children_of(pid):
    return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8").read().split()]


def has_operations(trace):
    return any(signal["signal"] == "file operations" and signal["mechanism"] for signal in trace.run["kernel_side"]["signals"])


def of_workers(this):
    folder, go, out = this.path("samples"), this.path("go"), this.new_trace()
    folder.mkdir()
    for name in ("index", *(f"sample{number}" for number in range(FILES))):
        (folder / name).write_bytes(bytes(SIZE))
    arguments = [sys.executable, "-S", "-B", "-c", LOADER, folder, go, str(FILES), str(EPOCHS)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as loader:
        wait_for(lambda: all((folder / f"ready{worker}").exists() for worker in range(2)), 60)
        workers = children_of(loader.pid)
        mlrun = observe(this, out, "--pid", ",".join(str(pid) for pid in (loader.pid, *workers)))
        go.touch()
        this.equal("exit status", mlrun.wait(60), 0)
    trace = this.opened(out)
    if not has_operations(trace):
        raise case.Skip("file operations are not recorded here")
    rows = [row for row in trace.rows("vfs") if row["pid"] in workers and row["outer_op_id"] is None]
    for number in range(FILES):
        path = f"{folder}/sample{number}"
        of_file = [row for row in rows if trace.paths.get(row["file_id"]) == path]
        this.equal(f"worker of {path}", {row["pid"] for row in of_file}, {workers[number % 2]})
        counts = {op: sum(row["op"] == op for row in of_file) for op in ("open", "read", "close")}
        this.equal(f"operations on {path}", counts, {"open": EPOCHS, "read": EPOCHS * (SIZE // 16384 + 1), "close": EPOCHS})
        this.equal(f"bytes of {path}", sum(row["ret"] for row in of_file if row["op"] == "read"), EPOCHS * SIZE)
    index = [row for row in rows if trace.paths.get(row["file_id"]) == f"{folder}/index" and row["op"] == "read"]
    this.equal("the one that was open", (len(index), sum(row["ret"] for row in index)), (FILES * EPOCHS, FILES * EPOCHS * 8))
    types = {name: {row["file_system"] for row in trace.rows("file") if row["path"] == f"{folder}/{name}"}
             for name in ("index", "sample0")}
    this.true("lies on what the others lie on", types["index"] == types["sample0"] != {None}, types)
    this.equal("labels add up", labels.faults(trace), [])
    this.equal("nothing lost", [row for row in trace.rows("loss") if row["unit"] == "file operations"], [])


def of_everybody(this):
    if is_in_container():  # t907 has the refusal
        return
    data, go, out = this.data_file(4096), this.path("go_on"), this.new_trace()
    with subprocess.Popen([sys.executable, "-S", "-B", "-c", LOOP, data, go], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as neighbour:
        try:
            mlrun = observe(this, out, "--system")
        finally:
            go.touch()  # else the neighbour never ends
        this.equal("the neighbour has read", neighbour.stdout.readline(), "done\n")
        # It lives long enough for its earlier open files to be looked up.
        mlrun.send_signal(signal.SIGINT)
        this.equal("exit status of --system", mlrun.wait(120), 0)
        neighbour.stdin.close()
    trace = this.opened(out)
    reads = [row for row in trace.rows("vfs") if row["pid"] == neighbour.pid and row["op"] == "read" and
             row["requested"] == 512]
    lost = sum(row["count"] for row in trace.rows("loss") if row["unit"] == "file operations")
    this.true("reads of a neighbour are recorded once, or counted as lost", 20000 - lost <= len(reads) <= 20000, (len(reads), lost))
    this.true("most are recorded", len(reads) > 10000, (len(reads), lost))
    this.equal("by the file's path", {trace.paths.get(row["file_id"]) for row in reads}, {str(data)})


def check(this):
    need_kernel_side()
    of_workers(this)
    of_everybody(this)


if __name__ == "__main__":
    case.run(check)
