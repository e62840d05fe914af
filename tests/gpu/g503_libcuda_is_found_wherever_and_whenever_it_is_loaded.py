# SPDX-License-Identifier: Apache-2.0
"""Two copies of libcuda in one process, one loaded after mlrun attached, one whose file is deleted and one of another
root are each probed once; work before that is reported as missing."""

import os
import shutil

import uprobe_case
from lib import case

OTHER_ROOT = 'mount -t tmpfs tmpfs {folder} && cp {driver} {folder}/libcuda.so.1 && exec "$@"'


def copy(this, name):
    folder = this.path(name)
    folder.mkdir()
    return shutil.copy(uprobe_case.DRIVER, folder / "libcuda.so.580.65.06")


def libraries(trace):
    return trace.run["kernel_side"]["cuda"]["libraries"]


def check_copies(this):
    first, second, third = (copy(this, name) for name in ("first", "second", "third"))
    with uprobe_case.victim(this, library=first) as one, uprobe_case.victim(this, library=None) as empty:
        os.unlink(first)
        empty.do("1")
        seen = uprobe_case.Observation(this, "--pid", f"{one.pid},{empty.pid}")
        wanted = [one.do(f"alloc({size})") for size in (1000, 2000)]
        for which, path in ((one, second), (empty, third)):
            uprobe_case.load_and_wait(seen, which, path)
        wanted.append(one.do("alloc(3000)"))
        late = empty.do("alloc(4000)")
        trace = seen.end()
    this.equal("of both copies", [row[2:] for row in uprobe_case.memory_rows(trace, one.pid)],
               list(zip((1000, 2000, 3000), wanted)))
    this.equal("of the late one", [row[2:] for row in uprobe_case.memory_rows(trace, empty.pid)], [(4000, late)])
    this.equal("three libraries were met", sorted((row["pid"], row["was_there"], row["path"]) for row in libraries(trace)),
               sorted([(one.pid, True, f"{first} (deleted)"), (one.pid, False, str(second)), (empty.pid, False, str(third))]))
    this.true("late ones are said", trace.covers("first calls of libcuda"), trace.rows("coverage"))
    uprobe_case.no_loss(this, trace)


def check_other_root(this):
    folder = this.path("elsewhere")
    folder.mkdir()
    inside = OTHER_ROOT.format(folder=folder, driver=uprobe_case.DRIVER)
    with uprobe_case.victim(this, library=f"{folder}/libcuda.so.1", before=("unshare", "-m", "sh", "-c", inside, "sh")) as one:
        this.equal("nothing is there for us", os.listdir(folder), [])
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        address = one.do("alloc(5000)")
        trace = seen.end()
    this.equal("of the other root", [row[2:] for row in uprobe_case.memory_rows(trace, one.pid)], [(5000, address)])


def check_none(this):
    with uprobe_case.victim(this, library=None) as one:
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        one.do("1")
        one.end()
        trace = seen.end(asked=False)
    this.true("that there was none is said", trace.covers("calls of libcuda"), trace.rows("coverage"))
    this.equal("no rows", trace.rows("gpu_api"), [])


def check(this):
    uprobe_case.need_uprobes()
    check_copies(this)
    check_none(this)
    case.need_mounts()
    check_other_root(this)


if __name__ == "__main__":
    case.run(check)
