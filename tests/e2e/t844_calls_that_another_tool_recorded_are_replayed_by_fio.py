# SPDX-License-Identifier: Apache-2.0
"""What strace recorded becomes a job of fio: files by their names though their kind is unknown, but no device and no socket. A close in a thread that has not
opened the file is listed, not counted as written."""

import re

from lib import case
from lib.exported import every_row_is_told_of, export
from lib.imported import imported

LOG = """\
100 1700000000.000001 execve("/bin/app", ["app"], 0x7ffd /* 3 vars */) = 0 <0.000100>
100 1700000000.100000 openat(AT_FDCWD, "/data/a b.bin", O_RDONLY) = 3 <0.000010>
100 1700000000.200000 pread64(3, "x"..., 4096, 8192) = 4096 <0.000020>
100 1700000000.300000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 101 <0.000010>
101 1700000000.400000 close(3) = 0 <0.000010>
100 1700000000.500000 openat(AT_FDCWD, "/dev/null", O_RDONLY) = 4 <0.000010>
100 1700000000.600000 pread64(4, ""..., 4096, 0) = 4096 <0.000020>
100 1700000000.700000 pread64(5<socket:[77]>, "x"..., 10, 0) = 10 <0.000020>
100 1700000000.800000 pwrite64(6</data/out>, "x"..., 10, 30) = 10 <0.000020>
"""


def check(this):
    log = this.path("app.strace")
    log.write_text(LOG)
    trace = imported(this, log)
    out, printed = export(this, trace, "fio", "replay")
    every_row_is_told_of(this, trace, printed)
    (iolog,) = out.glob("100-100-*.log")
    lines = [line.split(" ", 1)[1] for line in iolog.read_text().splitlines()[1:]]
    this.equal("lines", lines, ["files/data/a%20b.bin add", "files/data/a%20b.bin open", "files/data/a%20b.bin read 8192 4096",
                                "files/data/out add", "files/data/out open", "files/data/out write 30 10"])
    listed = dict(re.findall(r"not written: (\d+) rows of call: (.*)", printed))
    this.equal("listed", {reason: int(count) for count, reason in listed.items()},
               {"closes of files that the thread has not opened": 1, "pipes, sockets, terminals and other files without an offset": 3})


if __name__ == "__main__":
    case.run(check)
