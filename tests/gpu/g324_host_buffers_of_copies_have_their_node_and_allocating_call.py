# SPDX-License-Identifier: Apache-2.0
"""Copies to and from a GPU have the address of their host buffer and its node; bytes on another node than the GPU's add up exactly,
by allocating call, and are 0 when all is right. The GPU's node is read from /sys, here a folder that the case mounts there: next to
this machine's only node, next to another one, or unknown."""

import os

import cupti_case
from gpu_case import report
from lib import case

PROGRAM = cupti_case.PLACE / "host_copies"
PCI = "0001:17:02.0"  # of the mock NVML's first GPU
MIB = 1 << 20
# Arguments of host_copies: kind, bytes of one copy, buffer, number of copies.
COPIES = [("to", 100, "heap", 3), ("to", 5 * 4096, "shifted", 3), ("to", 3 * MIB, "heap", 4), ("from", 3 * MIB, "fresh", 2), ("any", 70_000, "heap", 2),
          ("to", 2 * MIB, "pinned", 5), ("from", 2 * MIB, "pinned", 2), ("rows", 8 * 4096, "heap", 2)]
KINDS = {"to": "HtoD", "from": "DtoH", "any": "HtoD", "rows": "HtoD"}


def bytes_of(copy):
    return copy[1] // 2 if copy[0] == "rows" else copy[1]


def traced(this, node, copies=COPIES, options=("--preload=allocs", "--stacks", "--alloc-min=1"), nvml="580", memory="0-1"):
    """In a mount namespace whose /sys has one GPU, next to that node, and these nodes with memory."""
    environment = cupti_case.mock_environment(this, 13)
    environment["LD_LIBRARY_PATH"] += f":{cupti_case.PLACE / 'runtime'}:{case.BUILD / 'gpu' / f'nvml-{nvml}'}"
    environment["FAKE_NVML_UUID"] = "%s-%02u112233-4455-6677-8899-aabbccddeeff%.0u"
    place = f"/sys/bus/pci/devices/{PCI}"
    made = (f"mount -t tmpfs gpus /sys/bus/pci/devices && mkdir {place} && echo 0x10de >{place}/vendor && echo 0x030200 >{place}/class && "
            f"echo {node} >{place}/numa_node && echo {memory} >{place}/nodes && "
            f'mount --bind {place}/nodes /sys/devices/system/node/has_memory && exec "$@"')
    words = [":".join(map(str, copy)) for copy in copies]
    out = this.new_trace()
    done = this.run("unshare", "-m", "sh", "-c", made, "sh", *this.command(PROGRAM, *words, out=out, options=["--cupti", "--lossless", *options]),
                    env=environment)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    trace.stdout = done.stdout
    return trace


def rows_of(trace):
    return sorted((row for row in trace.rows("gpu_memcpy")), key=lambda row: row["ts"])


def check_addresses(this, trace, node, misplaced):
    """Every copy, in order, has its buffer; node and misplaced bytes are these."""
    wanted = []
    for copy, line in zip(COPIES, trace.stdout.splitlines(), strict=True):
        address = int(line.split()[0])
        wanted += [(KINDS[copy[0]], bytes_of(copy), address, node, bytes_of(copy) if misplaced == "all" else misplaced)] * copy[3]
    this.equal("copies", [(row["kind"], row["bytes"], row["host_address"], row["host_node"], row["misplaced_bytes"]) for row in rows_of(trace)],
               wanted)


def check_right(this):
    trace = traced(this, 0)
    check_addresses(this, trace, 0, 0)
    this.equal("the GPU's node", [row["numa_node"] for row in trace.rows("gpu") if row["pci"] == PCI], [0])
    reported = report(this, trace)["gpu_work"]["host_buffers"]
    this.equal("all are known, none is misplaced", [sum(row[key] for row in reported) for key in ("bytes", "known_bytes", "misplaced_bytes", "misplaced_ns")],
               [sum(bytes_of(copy) * copy[3] for copy in COPIES)] * 2 + [0, 0])
    this.true("one line of the summary", "on the GPU's node" in this.run(case.MLRUN, "report", "--full", trace.folder).stdout)


def check_without_memory(this):
    """The node next to the GPU has no memory: nothing can be nearer."""
    trace = traced(this, 1, memory="0")
    check_addresses(this, trace, 0, None)
    this.equal("the GPU's node", [row["numa_node"] for row in trace.rows("gpu") if row["pci"] == PCI], [None])
    this.true("said", "no node with memory is known to be next to the GPU" in this.run(case.MLRUN, "report", "--full", trace.folder).stdout)


def check_wrong(this):
    trace = traced(this, 1)
    check_addresses(this, trace, 0, "all")
    reported = report(this, trace)["gpu_work"]["host_buffers"]
    by_function = {}
    for row in reported:
        this.equal("node of the GPU", row["gpu_node"], 1)
        name = (row["allocated_by"] or "").split(" (")[0], row["memory"]
        bytes_, copies, time = by_function.get(name, (0, 0, 0))
        by_function[name] = bytes_ + row["misplaced_bytes"], copies + row["copies"], time + row["misplaced_ns"]
    wanted = {}
    for copy in COPIES:
        function = {"pinned": "pin_batch", "fresh": "do_copies"}.get(copy[2], "allocate_batch")
        name = function, "pinned" if copy[2] == "pinned" else "pageable"
        bytes_, copies, _ = wanted.get(name, (0, 0, 0))
        wanted[name] = bytes_ + bytes_of(copy) * copy[3], copies + copy[3], 0
    this.equal("by who allocated", {name: sums[:2] for name, sums in by_function.items()}, {name: sums[:2] for name, sums in wanted.items()})
    this.equal("time", sum(sums[2] for sums in by_function.values()), sum(row["dur"] for row in rows_of(trace)))
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary names it", "on another node than the GPU's" in text and "allocated by allocate_batch" in text, text)


def check_unknown(this):
    """The firmware does not tell, or there is no NVML: no verdict, and the summary says so."""
    for trace in (traced(this, -1), traced(this, 0, nvml="none")):
        check_addresses(this, trace, 0, None)
        reported = report(this, trace)["gpu_work"]["host_buffers"]
        this.equal("no verdict", {(row["gpu_node"], row["misplaced_bytes"]) for row in reported}, {(None, 0)})
        this.true("it is said", "no node with memory is known to be next to the GPU" in this.run(case.MLRUN, "report", "--full", trace.folder).stdout)


def check_without_allocations(this):
    trace = traced(this, 1, options=("--preload=off",))
    check_addresses(this, trace, 0, "all")
    reported = report(this, trace)["gpu_work"]["host_buffers"]
    this.equal("pageable buffers have no call site", {row["allocated_by"] for row in reported if row["memory"] == "pageable"}, {None})


def check(this):
    case.need_mounts()
    if not os.path.isdir("/sys/bus/pci/devices"):
        raise case.Skip("no PCI bus in /sys here")
    check_right(this)
    check_without_memory(this)
    check_wrong(this)
    check_unknown(this)
    check_without_allocations(this)


if __name__ == "__main__":
    case.run(check)
