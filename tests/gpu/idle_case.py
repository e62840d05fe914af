# SPDX-License-Identifier: Apache-2.0
"""Shared by the cases of idle GPUs: finds the gaps between the kernels of a trace, and checks that gpu_idle has exactly these."""


def gaps_of(trace):
    """Between one kernel and the next, from 10 us on."""
    kernels = sorted((row["ts"], row["ts"] + row["dur"]) for row in trace.rows("gpu_kernel"))
    return [(end, start) for (_, end), (start, _) in zip(kernels, kernels[1:]) if start - end >= 10_000]


def check_sums(this, trace):
    pieces = {}
    for row in trace.rows("gpu_idle"):
        pieces.setdefault(row["gap_id"], []).append((row["ts"], row["ts"] + row["dur"]))
    whole = []
    for parts in pieces.values():
        parts.sort()
        this.true("pieces follow each other", all(a[1] == b[0] for a, b in zip(parts, parts[1:])), parts)
        whole.append((parts[0][0], parts[-1][1]))
    this.equal("gaps", sorted(whole), gaps_of(trace))


def length(stretches):
    return sum(end - start for start, end in stretches)
