# SPDX-License-Identifier: Apache-2.0
"""A library in front of libc passes malloc, calloc, realloc and free on and has no malloc_usable_size. With rules the program still gets the
size of each block, libc's or the rule's, and with the recorder all blocks of that library are listed, the smallest too."""

from lib import case

BLOCKS, LEAST_PLACED = 600, 1 << 20


def asked(number):
    return number << 14 if number % 50 == 49 else number * number % 60000 + 1


def check(this):
    environment = this.environment | {"LD_PRELOAD": this.victim("counts_blocks.so")}
    for options in (("--preload=off",), ("--lossless",)):
        said = this.path("sizes")
        trace = this.trace(this.victim("asks_sizes"), said, options=(*options, "--place", "size >= 1M -> default"), env=environment)
        usable = [int(line.split()[1]) for line in said.read_text().splitlines()]
        wrong = [(asked(number), got) for number, got in enumerate(usable) if not asked(number) <= got <= asked(number) + 8192]
        this.equal("blocks with a size, and wrong ones", (len(usable), wrong), (BLOCKS, []))
        (process,) = trace.run["placement"]["processes"]
        large = sum(asked(number) >= LEAST_PLACED for number in range(BLOCKS))
        this.equal("placed blocks", process["rules"][0]["matches"], large, said=process)
        if options == ("--lossless",):
            addresses = {int(line.split()[0], 16) for line in said.read_text().splitlines()}
            listed = {row["addr"] for row in trace.rows("alloc") if row["op"] != "free"}
            this.equal("blocks that are not listed", len(addresses - listed), 0)


if __name__ == "__main__":
    case.run(check)
