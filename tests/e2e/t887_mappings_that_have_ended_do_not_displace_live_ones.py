# SPDX-License-Identifier: Apache-2.0
"""A mapping that a rule has placed stays known while the program makes and removes 3,000 others. Of more than 511 that are there, the newest are sampled: the
summary then gives no share of what is resident, and a rule of which no mapping is known any more has that as the reason why none was sampled."""

import json

from lib import case

MIB = 1 << 20
HEAD = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
def make(kib):
    return libc.mmap(None, kib << 10, 3, 0x22, -1, 0)
"""
SHORT = HEAD + """
ctypes.memset(make(65536), 1, 64 << 20)
for _ in range(3000): libc.munmap(ctypes.c_void_p(make(4096)), 4 << 20)
time.sleep(3.5)
"""
MANY = HEAD + """
make(65536)
for _ in range(600): ctypes.memset(make(128), 1, 128 << 10)
time.sleep(3.5)
"""


def check(this):
    trace = this.trace("/usr/bin/python3", "-c", SHORT, options=("--preload=off", "--place", "mmap size >= 4M -> node 0"))
    (process,) = trace.run["placement"]["processes"]
    this.equal("matches, mappings that are not listed", (process["rules"][0]["matches"] >= 3001, process["mappings_left_out"]), (True, []))
    pages = trace.rows("page_node")
    this.true("bytes of the one that is there", len(pages) == 1 and abs(pages[0]["bytes"] - 64 * MIB) < 6 * MIB, pages)
    said = this.run(case.MLRUN, "report", trace.folder).stdout
    this.true("its share", "of what is resident" in said, said)

    rules = ("--place", "mmap size >= 64M -> node 0", "--place", "mmap size >= 128K -> default")
    trace = this.trace("/usr/bin/python3", "-c", MANY, options=("--preload=off", *rules))
    this.equal("rules of which mappings are not listed", trace.run["placement"]["processes"][0]["mappings_left_out"], [0, 1])
    pages = trace.rows("page_node")
    this.true("bytes of the newest 511", pages and {row["rule"] for row in pages} == {1} and 30 * MIB < pages[0]["bytes"] < 70 * MIB, pages)
    said = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
    for text in ("pages not sampled (its mappings are no longer known)", "sampled only the newest 511 mappings of all processes together"):
        this.true(f"the summary says {text!r}", text in said, said)
    this.true("no share", "of what is resident" not in said, said)
    reported = json.loads(this.run(case.MLRUN, "report", trace.folder, "--json").stdout)["placement"]["rules"]
    this.equal("report --json", [(rule["lacks_mappings"], rule["resident_bytes"]) for rule in reported], [(True, None), (True, None)])


if __name__ == "__main__":
    case.run(check)
