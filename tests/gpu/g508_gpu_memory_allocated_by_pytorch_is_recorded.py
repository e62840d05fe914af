# SPDX-License-Identifier: Apache-2.0
"""--kprobes=torch: each allocation and release of GPU memory by PyTorch's allocator is a row, from the static probes
pytorch:malloc and pytorch:free, for running processes and commands; sums, peak and final amount have the known values.
The probes' semaphores are 1 while mlrun observes, in its processes alone, and 0 afterwards."""

import os
import signal

import uprobe_case
from gpu_case import report
from lib import case
from lib.killed_collector import wait_for
from lib.trace import Trace

LIBRARY = case.BUILD / "gpu" / "uprobe" / "torch" / "libc10_cuda.so"
OF_ROCM = LIBRARY.with_name("libc10_hip.so")  # of an old version: a device is an int
WITHOUT = LIBRARY.parent / "plain" / LIBRARY.name
PLACES = 3  # one of malloc, two of free
ALLOCATED, RELEASED = "allocation", "release"

TORCH_CALLS = """
import ctypes, os, sys
from ctypes import c_int, c_int64, c_size_t, c_void_p

def load(path):
    global torch
    torch = ctypes.CDLL(path)

def allocate(address, device, size, stream):
    torch.mock_allocate(c_void_p(address), c_int(device), c_size_t(size), c_int64(stream))

def release(address, function="mock_delete"):
    getattr(torch, function)(c_void_p(address))

def semaphores():
    return torch.mock_malloc_semaphore(), torch.mock_free_semaphore()

def fork():
    "A child that answers for its semaphores when it is asked."
    global to_child, of_child
    asks, to_child = os.pipe()
    of_child, answers = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(to_child)  # so that the other end is the parent's alone
        while os.read(asks, 1):
            os.write(answers, bytes(semaphores()))
        os._exit(0)
    return child

def semaphores_of_child():
    os.write(to_child, b"?")
    return tuple(os.read(of_child, 2))
"""

KIB = 1 << 10
PART = 1 << 20
FIRST, SECOND, OTHER, BEFORE = 0x7F0000000000, 0x7F0000200000, 0x7F8000000000, 0x7F9000000000
# (operation, address, device, bytes, stream, held then) of each row; of a release what its allocation was.
ROWS = [(ALLOCATED, FIRST, 0, 512, 0, 512),
        (ALLOCATED, SECOND, 0, 3 * PART, 7, 3 * PART + 512),
        (ALLOCATED, OTHER, 1, 5 * PART, -2, 5 * PART),
        (RELEASED, FIRST, 0, 512, None, 3 * PART),
        (ALLOCATED, FIRST, 0, KIB, 7, 3 * PART + KIB),  # a reused address
        (RELEASED, SECOND, 0, 3 * PART, None, KIB),
        (RELEASED, BEFORE, None, None, None, None),
        (ALLOCATED, SECOND, 0, 40 * PART, 7, 40 * PART + KIB),
        (RELEASED, SECOND, 0, 40 * PART, None, KIB)]
SUMS = {0: {"peak_bytes": 40 * PART + KIB, "allocations": 4, "allocated_bytes": 512 + KIB + 43 * PART, "releases": 3,
            "unmatched_releases": 0, "unseen_releases": 0, "kept": 1, "kept_bytes": KIB, "not_followed": 0},
        1: {"peak_bytes": 5 * PART, "allocations": 1, "allocated_bytes": 5 * PART, "releases": 0, "unmatched_releases": 0,
            "unseen_releases": 0, "kept": 1, "kept_bytes": 5 * PART, "not_followed": 0},
        None: {"peak_bytes": 0, "allocations": 0, "allocated_bytes": 0, "releases": 1, "unmatched_releases": 1,
               "unseen_releases": 0, "kept": 0, "kept_bytes": 0, "not_followed": 0}}


def work(one):
    for number, (operation, address, device, size, stream, _) in enumerate(ROWS):
        if operation == ALLOCATED:
            one.do(f"allocate({address}, {device}, {size}, {stream})")
        else:
            one.do(f"release({address}, {('mock_delete', 'mock_uncached_delete')[number % 2]!r})")
    one.do(f"allocate({FIRST + PART}, 0, 0, 0)")  # no row: PyTorch's probe does not fire


def check_trace(this, trace, pid):
    rows = sorted((row for row in trace.rows("torch_memory") if row["pid"] == pid), key=lambda row: row["ts"])
    this.equal("rows", [(row["operation"], row["address"], row["device"], row["bytes"], row["stream"], row["held_bytes"])
                        for row in rows], ROWS)
    this.equal("by its thread", {row["tid"] for row in rows}, {pid})
    processes = {row["proc_id"]: row["pid"] for row in trace.rows("process")}
    said = [row for row in report(this, trace)["torch_memory"] if processes[row["proc_id"]] == pid]
    sums = {row["device"]: {key: row[key] for key in row if key not in ("proc_id", "device")} for row in said}
    this.equal("sums", sums, SUMS)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "TORCH MEMORY" in text and "40.0 MiB" in text, text)
    this.equal("nothing lost", [row for row in trace.rows("loss") if "PyTorch" in row["unit"]], [])


def check_observed(this):
    with uprobe_case.victim(this, library=LIBRARY, calls=TORCH_CALLS) as one, \
            uprobe_case.victim(this, library=OF_ROCM, calls=TORCH_CALLS) as of_rocm, \
            uprobe_case.victim(this, library=LIBRARY, calls=TORCH_CALLS) as other:
        one.do(f"allocate({BEFORE}, 0, 100, 0)")  # without mlrun its probes do nothing
        seen = uprobe_case.Observation(this, "--pid", f"{one.pid},{of_rocm.pid}", kprobes="vfs,torch")
        this.equal("switched on", (one.do("semaphores()"), of_rocm.do("semaphores()")), ((1, 2), (1, 2)))
        this.equal("of another process", other.do("semaphores()"), (0, 0))
        one.do("fork()")
        for victim in (one, of_rocm):
            work(victim)
        other.do(f"allocate({FIRST}, 0, 100, 0)")
        trace = seen.end()
        for victim in (one, of_rocm):
            check_trace(this, trace, victim.pid)
            wait_for(lambda victim=victim: victim.do("semaphores()") == (0, 0), 300)
        wait_for(lambda: one.do("semaphores_of_child()") == (0, 0), 300)
        this.equal("whose rows", {row["pid"] for row in trace.rows("torch_memory")}, {one.pid, of_rocm.pid})
        this.true("that there was memory before is said", trace.covers("PyTorch's GPU memory allocated before the probes were attached"),
                  trace.rows("coverage"))
        check_killed(this, one)


def check_killed(this, one):
    seen = uprobe_case.Observation(this, "--pid", one.pid, kprobes="torch")
    this.equal("switched on", one.do("semaphores()"), (1, 2))
    os.kill(seen.mlrun.pid, signal.SIGKILL)
    seen.mlrun.wait(120)
    wait_for(lambda: one.do("semaphores()") == (0, 0), 300)


def check_command(this):
    out = this.new_trace()
    command = (case.MLRUN, "--preload=files", "--kprobes=torch", "--quiet", "-o", out)
    one = uprobe_case.Victim(this, library=None, before=[str(word) for word in command], calls=TORCH_CALLS)
    mlrun = one.process.pid
    before = uprobe_case.probes_held_by(mlrun)
    one.do(f"load({str(LIBRARY)!r})")
    wait_for(lambda: uprobe_case.probes_held_by(mlrun) == before + PLACES, 120)
    work(one)
    one.end()
    this.equal("exit status", one.process.returncode, 0)
    check_trace(this, Trace(out), one.pid)


def check_without(this):
    with uprobe_case.victim(this, library=WITHOUT, calls=TORCH_CALLS) as one:
        seen = uprobe_case.Observation(this, "--pid", one.pid, kprobes="torch")
        one.do(f"allocate({FIRST}, 0, 100, 0)")
        trace = seen.end()
    said = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "calls of PyTorch's allocator"]
    this.true("one line says so", len(said) == 1 and "without static probes of pytorch" in said[0], said)
    this.equal("rows", trace.rows("torch_memory"), [])
    out = this.new_trace()
    this.equal("exit status", this.run(case.MLRUN, "--kprobes=torch", "-o", out, "true").returncode, 0)
    said = [row["detail"] for row in Trace(out).rows("coverage") if row["subject"] == "calls of PyTorch's allocator"]
    this.true("and where no process has the library", len(said) == 1 and "libc10_cuda.so" in said[0], said)


def check(this):
    uprobe_case.need_uprobes()
    if not LIBRARY.exists():
        raise case.Skip(f"{LIBRARY} is not built: <sys/sdt.h> is missing (tests/setup/install.sh test)")
    check_without(this)
    check_observed(this)
    check_command(this)


if __name__ == "__main__":
    case.run(check)
