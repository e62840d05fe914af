# SPDX-License-Identifier: Apache-2.0
"""fio runs the job of an export; strace of fio sees the operations, offsets and sizes of the trace in each file, and its syncs. What fio's log
has no place for is listed."""

import re
from collections import Counter

from lib import case
from lib.exported import every_row_is_told_of, export, rows_of, trace_of


def replayed(text):
    """{(file, operation, offset, bytes): times} of strace's output, per process."""
    files, done, unfinished = {}, Counter(), {}
    for line in text.splitlines():
        pid, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            unfinished[pid] = call.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            call = unfinished.pop(pid) + resumed[1]
        if opened := re.match(r'openat\(AT_FDCWD, "(files/[^"]*)".*\) += (\d+)$', call):
            files[opened[2]] = opened[1]
        elif moved := re.match(r"(pread64|pwrite64)\((\d+), .*, (\d+), (\d+) *\) += (\d+)$", call):
            if moved[2] in files:
                done[files[moved[2]], moved[1].removesuffix("64"), int(moved[4]), int(moved[5])] += 1
        elif synced := re.match(r"(fsync|fdatasync)\((\d+) *\) += 0$", call):
            if synced[2] in files:
                done[files[synced[2]], synced[1], 0, 0] += 1
    return done


def recorded(trace):
    kinds = {"read": "pread", "pread": "pread", "write": "pwrite", "pwrite": "pwrite", "fsync": "fsync", "fdatasync": "fdatasync",
             "fread": "pread", "fgets": "pread", "getline": "pread", "fwrite": "pwrite", "fflush": "pwrite"}
    files = {row["file_id"]: row for row in rows_of(trace, "file")}
    done = Counter()
    for row in rows_of(trace, "call"):
        file = files.get(row["file_id"])
        if row["func"] not in kinds or row["err"] or not file or file["kind"] != "regular":
            continue
        name = "files" + "".join(f"%{byte:02X}" if byte <= 32 or byte >= 127 or chr(byte) in "%'\"\\$`:*?" else chr(byte) for byte in file["path"].encode())
        if row["func"].endswith("sync"):
            done[name, kinds[row["func"]], 0, 0] += 1
        elif row["ret"] > 0:
            done[name, kinds[row["func"]], row["offset"], row["ret"]] += row["offset"] is not None
    return done


def check(this):
    case.need_command("fio", "--version")
    case.need_command("strace", "-V")
    trace = trace_of(this)
    out, printed = export(this, trace, "fio", "replay")
    every_row_is_told_of(this, trace, printed)
    this.equal("files.sh", this.run("sh", "files.sh", cwd=out).returncode, 0)
    done = this.run("strace", "-f", "-o", "strace.out", "-e", "trace=openat,pread64,pwrite64,fsync,fdatasync", "fio", "replay.fio", cwd=out)
    this.equal("fio's exit status", done.returncode, 0, said=done.stdout + done.stderr)
    wanted = recorded(trace)
    seen = replayed((out / "strace.out").read_text(errors="replace"))
    parts = {key: count for key, count in wanted.items() if "part" in key[0]}
    this.true("the program's files are among them", sum(parts.values()) > 100, sum(parts.values()))
    this.equal("operations that differ", (seen - wanted, wanted - seen), (Counter(), Counter()))


if __name__ == "__main__":
    case.run(check)
