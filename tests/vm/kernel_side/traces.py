# SPDX-License-Identifier: Apache-2.0
"""Shared by the checks of guests' traces: the traces, the kernel's counters, and failure messages."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
from lib import labels as promise  # noqa: E402
from lib.case import BUILD  # noqa: E402
from lib.trace import Trace  # noqa: E402

OUT = Path(sys.argv[1])
SECTOR = 512
MS = 1_000_000
CLOCKS_NS = 20_000  # by which the interposer's and the kernel's may differ in a guest
MISTIMED = 74  # exit status: try again. Every row is as it must be, but the machine was too busy for how long things took; or a
#                trace says that the kernel skipped programs, so that rows may be missing and nothing can be said of the others
SKIPPED = 77  # exit status: all that could be tried holds, but something could not be tried
# Asks for times as exact as a machine gives them that does nothing else, or one whose clock counts instructions.
EXACT = bool(os.environ.get("MLRUN_EXACT_TIMES"))
KERNEL_SKIPPED = "the kernel skipped the BPF program "  # a program: it was running on that processor already, interrupted or preempted
# Whether a ring for each processor was asked for, of which guests have two or more. Not heard of another user than root.
ONE_RING = os.environ.get("MLRUN_RING_PROCESSORS") != "1"
failures = []
mistimed = []
skipped = []
untried = []


def check(what, holds, shown=""):
    if not holds:
        failures.append(f"{what}: {shown}")


def check_time(what, holds, shown=""):
    """Of something that a machine busy with other work changes: how long it took, or which part of it."""
    if not holds:
        (failures if EXACT else mistimed).append(f"{what}: {shown}")


def equal(what, got, wanted):
    check(what, got == wanted, f"{got!r}, wanted {wanted!r}")


def near(what, got_ns, wanted_ns, share=0.15):
    check_time(what, abs(got_ns - wanted_ns) <= share * wanted_ns, f"{got_ns / MS:.2f} ms, wanted {wanted_ns / MS:.2f}")


def cannot_try(what):
    """Of something for which a program is missing here: the test does not count as passed."""
    untried.append(f"not tried: {what} (tests/setup/install.sh test)")


def report(name):
    """The summary of a trace, as text."""
    command = [BUILD / "bin" / "mlrun", "report", "--full", OUT / name]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


class Run:
    """One of the traces. Whatever it is looked at for, every row's labels add up."""

    looks_at_9p = False  # else what is skipped of that does not matter: the guest's own root comes by it

    def __init__(self, name, waits=True):
        self.name = name
        self.trace = Trace(OUT / name)
        self.requests = self.trace.rows("block")
        self.parts = self.trace.rows("block_part")
        self.waits = self.trace.rows("wait")
        self.calls = {row["call_id"]: row for row in self.trace.rows("call")}
        self.devices = {row["name"]: row for row in self.trace.rows("device")}
        equal(f"{name}: labels of time are recorded", promise.are_recorded(self.trace), waits)
        equal(f"{name}: it has one ring", self.trace.run["kernel_side"]["rings"]["count"] == 1, ONE_RING or name == "user")
        for fault in promise.faults(self.trace)[:5]:
            check(f"{name}: where the time went", False, fault)
        lost = [row for row in self.trace.rows("loss") if row["channel"] == "kernel side"]
        equal(f"{name}: nothing lost", [row for row in lost if not row["reason"].startswith(KERNEL_SKIPPED)], [])
        skipped.extend(f"{name}: {row}" for row in lost if row["reason"].startswith(KERNEL_SKIPPED) and
                       (self.looks_at_9p or f"{KERNEL_SKIPPED}on_9p_" not in row["reason"]))

    def counted(self, prefix=""):
        """Requests and bytes read and written while it ran, as /sys/block/DEVICE/stat counts them."""
        before, after = ([int(word) for word in (OUT / f"{self.name}.{prefix}{when}").read_text().split()]
                         for when in ("before", "after"))
        grown = [late - early for early, late in zip(before, after, strict=True)]
        return {"reads": grown[0], "read_bytes": grown[2] * SECTOR, "writes": grown[4], "write_bytes": grown[6] * SECTOR,
                "flushes": grown[15]}

    def same_as_kernel(self, device, *keys):
        """Exactly; where the command has read the counters itself, between what it and what others counted around it. A flush
        without data, as a sync sends when the journal has nothing new, is a write of no bytes to the kernel and none to us."""
        row, most = self.devices.get(device, {}), self.counted()
        least = self.counted("inner_") if (OUT / f"{self.name}.inner_after").exists() else most
        for key in keys:
            fewest = least[key] - (most["flushes"] if key == "writes" else 0)
            check(f"{self.name}: {key} of {device} by the kernel's own count", fewest <= row.get(key, 0) <= most[key],
                  f"{row.get(key, 0)}, wanted {fewest} to {most[key]}")

    def traces_functions(self):
        """Each is traced by fentry: a fallback would hide that the kernel refused our programs."""
        programs = self.trace.run["kernel_side"]["programs"]
        mechanisms = {entry["event"]: entry["mechanism"] for entry in programs if entry["mechanism"] != "tracepoint"}
        check(f"{self.name}: functions are probed by fentry", mechanisms and set(mechanisms.values()) == {"fentry"}, mechanisms)

    def moved_for(self, calls):
        """Bytes that requests moved for these calls, by parts that carry the number of the call's operation."""
        numbers = {call["call_id"] for call in calls}
        operations = {row["op_id"] for row in self.trace.rows("vfs") if row["call_id"] in numbers}
        return sum(part["bytes"] for part in self.parts if part["req_id"] and part["op_id"] in operations)

    def func_of(self, part):
        call = self.calls.get(part["call_id"])
        return call["func"] if call else None


def finish(said):
    print("\n".join(failures + mistimed + skipped + untried) or said)
    sys.exit(MISTIMED if skipped else 1 if failures else MISTIMED if mistimed else SKIPPED if untried else 0)
