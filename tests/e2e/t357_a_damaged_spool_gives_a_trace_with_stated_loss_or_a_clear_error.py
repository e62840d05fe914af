# SPDX-License-Identifier: Apache-2.0
"""With bytes of the spool changed, cut off or replaced before the merge, recover keeps the intact records and states
the loss, or prints one clear error; it never crashes or hangs."""

import random
import shutil

from lib import case
from lib.trace import Trace

CALLS, ROUNDS = 30000, 12


def flip(content, chance):
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 20, 2000))):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def cut(content, chance):
    return content[:chance.randrange(len(content))]


def overwrite(content, chance):
    at, size = chance.randrange(len(content)), chance.randrange(1, 1 << 20)
    return content[:at] + chance.randbytes(size) + content[at + size:]


def move(content, chance):
    a, b = sorted(chance.randrange(len(content)) for _ in range(2))
    return content[:a] + content[b:] + content[a:b]


def check(this):
    chance = random.Random(this.folder.name)
    raw = this.new_trace()
    done = this.run(*this.command(this.victim("numbered"), this.data_file(), CALLS, "exit", out=raw, options=("--defer-merge",)))
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    spool = next(path for path in raw.iterdir() if "spool" in path.name)
    content, made = spool.read_bytes(), 0
    for turn in range(ROUNDS):
        damage = (flip, cut, overwrite, move)[turn % 4]
        out = this.new_trace()
        shutil.copytree(raw, out)
        (out / spool.name).write_bytes(damage(content, chance))
        done = this.run(case.MLRUN, "recover", out, timeout=60)
        this.true(f"{damage.__name__}: ended by itself", done.returncode in (0, 125), done)
        if done.returncode == 125:
            this.true("an error that names the trace", str(out) in done.stderr or "spool" in done.stderr, done.stderr)
            continue
        made += 1
        trace = Trace(out)
        calls = len(trace.calls_of("pread", path=this.data_file()))
        this.true(f"{damage.__name__}: what is missing is stated", calls == CALLS or trace.rows("loss"), calls)
    this.true("some traces were made", made > 0)


if __name__ == "__main__":
    case.run(check)
