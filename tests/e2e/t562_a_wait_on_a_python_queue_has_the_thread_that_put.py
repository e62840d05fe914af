# SPDX-License-Identifier: Apache-2.0
"""A thread that waits in queue.Queue.get() is woken by one of four threads in turn: its wait has the one that put, by Python's
own native ids. A timeout has none."""

import itertools
import sys

from lib import case, posters

SCRIPT = """
import queue, threading, time
q, asleep = queue.Queue(), threading.Event()
got = []
def state(tid):
    return open(f"/proc/self/task/{tid}/stat").read().rpartition(")")[2].split()[0]
def takes():
    for _ in range(20):
        asleep.set()
        got.append(q.get())
    try:
        q.get(timeout=0.02)
    except queue.Empty:
        pass
taker = threading.Thread(target=takes)
taker.start()
def puts():
    asleep.wait()
    asleep.clear()
    seen = 0
    while seen < 4:  # once may be a wait for Python's lock, which this thread drops in between
        time.sleep(0.001)
        seen = seen + 1 if state(taker.native_id) == "S" else 0
    q.put(threading.get_native_id())
for _ in range(20):
    one = threading.Thread(target=puts)
    one.start()
    one.join()
taker.join()
print(taker.native_id, *got)
"""


def check(this):
    trace = this.trace(sys.executable, "-c", SCRIPT)
    taker, *putters = map(int, trace.stdout.split())
    # Python's lock is a condition; a queue's is a semaphore (before 3.13, as sem_clockwait with and sem_wait without a time).
    waits = [poster for func, tid, poster in posters.waits(trace, least_ns=1_000_000) if func.startswith("sem_") and tid == taker]
    # On a busy machine it also waits for the queue's lock, which the same thread holds.
    this.equal("who put", [poster for poster, _ in itertools.groupby(waits)], putters)


if __name__ == "__main__":
    case.run(check)
