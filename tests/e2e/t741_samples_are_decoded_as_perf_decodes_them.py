# SPDX-License-Identifier: Apache-2.0
"""Ten thousand samples of page faults by Debian's perf, with data sources and weights at random patched into them, are decoded by our reader of
records as perf script decodes them: address, thread, time, weight, and every part of the data source that perf shows."""

import random
import re
import struct

from lib import case

SAMPLES = 10000
LINE = re.compile(r"^\s*(\d+)\s+(\d+)\.(\d+):\s+([0-9a-f]+)\s+([0-9a-f]+) \|OP (\S+)\|LVL (.*?)\|SNP (.*?)\|TLB (.*?)\|LCK ([^|]*?)(?:\|[^|]*?)?\s+(\d+)\s+[0-9a-f]+\s*$")
# sample_type bits that stand before the weight, in the order of the record, and their sizes
BEFORE = ((1 << 16, 8), (1 << 0, 8), (1 << 1, 8), (1 << 2, 8), (1 << 3, 8), (1 << 6, 8), (1 << 9, 8), (1 << 7, 8), (1 << 8, 8))
WEIGHT, DATA_SOURCE = (1 << 14) | (1 << 24), 1 << 15


def source(rng):
    """One of each field, as hardware sets them."""
    number = rng.choice([0, 1, 2, 3, 4, 9, 0xA, 0xB, 0xC, 0xD, 0xE])
    level = rng.choice([0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]) if number == 0 else 0
    hit = rng.choice([2, 4])
    snoop = rng.choice([1, 2, 4, 8, 16])
    more = rng.choice([0, 1]) if snoop == 1 else 0
    remote = rng.randrange(2)
    hops = rng.choice([0, 1, 4]) if remote and number else 0  # perf shows hops in place of an old level
    more = 0 if hops else more
    tlb = rng.choice([2, 4]) | rng.choice([8, 16] if hops else [8, 16, 32, 64])  # perf cuts longer texts
    return (1 << rng.randrange(5) | (hit | (1 << level if level else 0)) << 5 | snoop << 19 | rng.choice([1, 2]) << 24 | tlb << 26
            | number << 33 | remote << 37 | more << 38 | hops << 43)


def patch(data, rng):
    """Puts a data source and a weight into each sample. Returns how many."""
    size, attr_size = struct.unpack_from("<QQ", data, 8)
    attrs, _, begin, length = struct.unpack_from("<QQQQ", data, 24)
    sample_type = struct.unpack_from("<Q", data, attrs + 24)[0]
    assert size >= 104 and attr_size >= 64 and sample_type & WEIGHT and sample_type & DATA_SOURCE, hex(sample_type)
    at_weight = 8 + sum(bytes_ for bit, bytes_ in BEFORE if sample_type & bit)
    count, at = 0, begin
    while at < begin + length:
        kind, _, bytes_ = struct.unpack_from("<IHH", data, at)
        if kind == 9:
            struct.pack_into("<QQ", data, at + at_weight, rng.randrange(1 << 31), source(rng))
            count += 1
        at += bytes_
    return count


LEVELS = {"L1": "L1", "L2": "L2", "L3": "L3", "L4": "L4", "LFB/MAB": "LFB", "LFB": "LFB", "Local RAM": "RAM", "RAM": "RAM", "PMEM": "PMEM", "CXL": "CXL", "I/O": "I/O",
          "Uncached": "uncached", "Any cache": "cache", "Remote RAM (1 hop)": "RAM", "Remote RAM (2 hops)": "RAM", "Remote Cache (1 hop)": "cache",
          "Remote Cache (2 hops)": "cache", "N/A": "", "": ""}
OPS = {"LOAD": "load", "STORE": "store", "PFETCH": "prefetch", "EXEC": "execute"}
SAME_NODE = "core, same node"
HOPS = (SAME_NODE, "board")
SNOOPS = {"None": "none", "Hit": "hit", "Miss": "miss", "HitM": "hitm", "Fwd": "forward", "N/A": ""}
TRANSLATIONS = {"L1": "L1", "L2": "L2", "Walker": "walker", "Fault": "fault"}


def level_of(text):
    """(level, hit or miss, remote) as perf says it: 'Remote L3 hit', 'LFB/MAB miss', 'L1 hit'."""
    for end in ("hit", "miss"):
        if text == end or text.endswith(" " + end):
            text, found = text[: -len(end)].strip(), end
            break
    else:
        found = ""
    if text in LEVELS:
        return LEVELS[text], found, text.startswith("Remote ")
    is_remote = text.startswith("Remote")
    text = text.removeprefix("Remote").strip()
    for hops in HOPS:
        if text.startswith(hops):
            return LEVELS[text.removeprefix(hops).strip()], found, is_remote and hops != SAME_NODE
    return LEVELS[text], found, is_remote


def of_perf(text):
    """{(tid, time_ns, address): fields}, counted over equal keys in order."""
    rows = {}
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            raise AssertionError(f"perf's line is not understood: {line!r}")
        tid, seconds, rest, address, _, op, level, snoop, tlb, lock, weight = found.groups()
        level, hit, remote = level_of(level.strip())
        translation, _, tlb_hit = tlb.strip().rpartition(" ")
        rows[int(tid), int(seconds) * 10**9 + int(rest) * 10 ** (9 - len(rest)), int(address, 16)] = (
            OPS.get(op, ""), level, hit, remote, " or ".join(filter(None, (SNOOPS[one.strip()] for one in snoop.split("or ")))), TRANSLATIONS[translation.strip()], tlb_hit,
            {"Yes": True, "No": False, "N/A": False}.get(lock.strip()), int(weight))  # None: perf cuts the text after 100 bytes
    return rows


def check(this):
    case.need_program("perf")
    case.need_root()
    file = this.path("perf.data")
    done = this.run("perf", "record", "-q", "-d", "-W", "-c", "1", "-e", "page-faults:u", "-o", file, "--", this.victim("touches"), "written", "32", "0.01")
    this.equal("perf record", done.returncode, 0, said=done.stderr)
    data = bytearray(file.read_bytes())
    count = patch(data, random.Random(25))
    this.true("enough samples", count >= SAMPLES, count)
    file.write_bytes(data)
    said = this.run("perf", "script", "-i", file, "--ns", "-F", "tid,time,addr,ip,data_src,weight", "-f", timeout=300).stdout
    ours = this.run(case.BUILD / "e2e" / "perf_samples", file)
    this.equal("ours", ours.returncode, 0, said=ours.stderr)
    wanted, got = of_perf(said), {}
    for line in ours.stdout.splitlines():
        tid, time_ns, address, op, level, hit, remote, snoop, translation, tlb_hit, locked, weight = line.split("\t")
        got[int(tid), int(time_ns), int(address)] = (op, level, hit, remote == "1", snoop, translation, tlb_hit, locked == "1", int(weight))
    this.equal("samples of perf", len(wanted), count)
    this.equal("the same samples", set(got), set(wanted))
    wrong = [(got[key], row) for key, row in wanted.items() if any(one != other for one, other in zip(got[key], row, strict=True) if other is not None)]
    this.equal("samples that differ", wrong[:3], [])
    cut = sum(None in row for row in wanted.values())
    this.true("few texts are cut", cut < count // 1000, cut)
    print(f"{count} samples, {len({row[:-1] for row in wanted.values()})} different but for their weight; {cut} cut by perf")


if __name__ == "__main__":
    case.run(check)
