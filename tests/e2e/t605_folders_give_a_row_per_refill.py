# SPDX-License-Identifier: Apache-2.0
"""opendir, readdir, closedir and fdopendir over a folder of 3000 entries: rows for the system calls, not for each
entry."""

from lib import case, exact

ENTRIES = 3000


def check(this):
    folder = this.path("folder")
    folder.mkdir()
    for number in range(ENTRIES):
        (folder / f"entry_{number:05d}").touch()
    trace = this.trace(this.victim("hooks_folders"), folder)
    this.equal("entries, counted twice by the program", int(trace.stdout), 2 * (ENTRIES + 2))
    calls = [call for call in trace.calls if call.path == str(folder)]
    this.equal("opens and closes", [call.func for call in calls if call.func != "readdir"],
               ["opendir", "closedir", "open", "fdopendir", "closedir"])
    refills = trace.calls_of("readdir", path=folder)
    this.true("rows of readdir", 4 <= len(refills) <= 60, len(refills))
    this.true("calls served", 2 * ENTRIES <= sum(call.served_calls for call in refills) <= 2 * (ENTRIES + 3),
              sum(call.served_calls for call in refills))
    missing = trace.calls_of("opendir", path="/nowhere/at/all")
    this.equal("the one that failed", [(call.ret, call.err) for call in missing], [(-1, 2)])
    exact.expect_strace_agrees(this, "hooks_folders", folder)


if __name__ == "__main__":
    case.run(check)
