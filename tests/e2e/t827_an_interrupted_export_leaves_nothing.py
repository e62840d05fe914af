# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the middle of an export or import, a full disk, an output that exists or is inside of the trace: there is either the whole output or nothing, in every format, and the trace is
as it was. nohup's ignored signal does not stop an export."""

import os
import resource
import shutil
import signal
import subprocess
import time

import pyarrow.compute
import pyarrow.parquet

from lib import case, made_trace

FORMATS = ("perfetto", "chrome", "otf2", "sqlite", "pprof", "mlperf-traces", "fio")
ROWS, TIMES = 1000, 300


def long_trace(this):
    """The same rows over and over, each time later: a row group each time."""
    folder, _, t = made_trace.make(this)
    made_trace.write(folder, "call", [made_trace.call(number, t + 100 * number, 50, "read", file_id=1 + number % 2, ret=10, offset=10 * number) for number in range(ROWS)])
    [path] = (folder / "tables" / "call").glob("*.parquet")
    rows = pyarrow.parquet.read_table(path)
    with pyarrow.parquet.ParquetWriter(path, rows.schema) as writer:
        for number in range(TIMES):
            writer.write_table(rows)
            for column in ("ts", "end_min", "end_max"):
                place = rows.schema.get_field_index(column)
                rows = rows.set_column(place, rows.schema.field(place), pyarrow.compute.add(rows[column], 100 * ROWS))
    return folder


def part_of(this, name):
    return [path for path in this.folder.iterdir() if path.name.startswith(name)]


def stopped_in_the_middle(this, folder, form, number, **more):
    """A process that writes, stopped while its output is incomplete; None: it was faster."""
    name = f"out-{form}-{number}"
    writer = subprocess.Popen([case.MLRUN, "export", folder, "--to", form, "-o", name], cwd=this.folder, env=this.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    while writer.poll() is None and not any(path.is_dir() and any(path.iterdir()) for path in part_of(this, name + ".part-")):
        time.sleep(0.001)
    if writer.poll() is None:
        writer.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, writer.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if part_of(this, name + ".part-"):
            return writer, name
        writer.send_signal(signal.SIGCONT)
    writer.communicate()
    return None


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def in_the_middle(this, folder, form, **more):
    for number in range(20):
        if found := stopped_in_the_middle(this, folder, form, number, **more):
            return found
    raise AssertionError(f"{form}: an export of {ROWS * TIMES} rows was over before it could be stopped")


def check_signal(this, folder, form, number):
    """One that was stopped in its last moments may end before the signal is handled: then the output is there whole."""
    for _ in range(20):
        writer, name = in_the_middle(this, folder, form)
        writer.send_signal(number)
        writer.send_signal(signal.SIGCONT)
        said = writer.communicate(timeout=60)
        if writer.returncode != 0:
            break
        this.equal(f"{form}: what is left of one that ended first", part_of(this, name), [this.path(name)], said=said)
        remove(this.path(name))
    this.equal(f"{form}: ended by", writer.returncode, -number, said=said)
    this.equal(f"{form}: what is left", part_of(this, name), [])


def check_signals(this, folder):
    for form, number in (*((form, signal.SIGINT) for form in FORMATS), ("chrome", signal.SIGTERM), ("otf2", signal.SIGHUP)):
        check_signal(this, folder, form, number)
    writer, name = in_the_middle(this, folder, "chrome", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    writer.send_signal(signal.SIGHUP)
    writer.send_signal(signal.SIGCONT)
    this.true("ignored, it goes on", writer.communicate(timeout=60) and writer.returncode == 0 and this.path(name).exists())


def check_import(this, folder):
    """The same for an import of what was exported."""
    done = this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", "long.json")
    this.equal("export", done.returncode, 0, said=done.stderr)
    importer = subprocess.Popen([case.MLRUN, "import", "--quiet", "long.json", "-o", "imported"], cwd=this.folder, env=this.environment, stderr=subprocess.PIPE)
    while importer.poll() is None and not part_of(this, "imported"):
        time.sleep(0.001)
    importer.send_signal(signal.SIGINT)
    said = importer.communicate(timeout=60)
    this.equal("import: ended by", importer.returncode, -signal.SIGINT, said=said)
    this.equal("import: what is left", part_of(this, "imported"), [])

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = this.run(case.MLRUN, "import", "--quiet", "long.json", "-o", "imported/", preexec_fn=limit)
    this.equal("import: no room", (done.returncode, done.stderr.count("\n"), ".part-" in done.stderr), (125, 1, False), said=done.stderr)
    this.equal("import: what is left without room", part_of(this, "imported"), [])
    done = this.run(case.MLRUN, "import", "--quiet", "long.json", "-o", "imported/")
    this.equal("import", (done.returncode, done.stderr, (this.path("imported") / "run.json").exists()), (0, "", True))
    this.equal("import: one folder", len(part_of(this, "imported")), 1)


def check_full_disk(this, folder):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for form in FORMATS:
        if form == "pprof":
            continue  # a few hundred bytes
        done = this.run(case.MLRUN, "export", folder, "--to", form, "-o", f"full-{form}", preexec_fn=limit)
        this.equal(f"{form}: no room", (done.returncode, done.stderr.count("\n"), f"full-{form}" in done.stderr, ".part-" in done.stderr), (125, 1, True, False), said=done.stderr)
        this.equal(f"{form}: what is left", part_of(this, f"full-{form}"), [])


def check_places(this, folder):
    before = sorted(folder.rglob("*"))
    (this.path("link")).symlink_to(folder / "tables")
    for place, reason in (("/dev/full", "exists"), (folder / "x", "inside of the trace"), (folder / "tables" / "x", "inside of the trace"), ("link/x", "inside of the trace"),
                          (folder / "run.json", "exists"), ("link", "exists"), (f"{folder}/tables/../x", "inside of the trace")):
        for form in ("chrome", "otf2"):
            done = this.run(case.MLRUN, "export", folder, "--to", form, "-o", place)
            this.equal(f"{form} to {place}", (done.returncode, done.stderr.count("\n"), reason in done.stderr), (125, 1, True), said=done.stderr)
    this.equal("the trace", sorted(folder.rglob("*")), before)
    done = this.run(case.MLRUN, "export", ".", "--to", "chrome", "-o", "x.json", cwd=folder)
    this.equal("from inside of the trace", (done.returncode, "inside of the trace" in done.stderr), (125, True), said=done.stderr)
    done = this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", f"{folder}-beside.json")
    this.equal("beside the trace", (done.returncode, done.stderr), (0, ""))


def check(this):
    folder = long_trace(this)
    check_signals(this, folder)
    check_import(this, folder)
    check_full_disk(this, folder)
    check_places(this, folder)


if __name__ == "__main__":
    case.run(check)
