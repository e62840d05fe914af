# SPDX-License-Identifier: Apache-2.0
"""fork, vfork, posix_spawn, exec, _exit and pthread_create once each give their rows, and the processes and images that
result."""

from collections import Counter

from lib import case


def check(this):
    trace = this.trace(this.victim("hooks_processes"))
    made = Counter(call.func for call in trace.calls if call.func in
                   ("fork", "vfork", "posix_spawn", "execve", "_exit", "pthread_create"))
    this.equal("calls", {func: made[func] for func in ("fork", "vfork", "posix_spawn", "pthread_create")},
               {"fork": 1, "vfork": 1, "posix_spawn": 1, "pthread_create": 1})
    this.true("the failed exec and the one that worked", made["execve"] >= 1, made)
    children = {call.ret for call in trace.calls_of("fork", "posix_spawn")}
    pids = {row["pid"] for row in trace.rows("process")}
    this.true("children of fork and posix_spawn are processes of the trace", children <= pids, (children, pids))
    main = trace.calls_of("fork")[0].proc_id
    images = [row["exe"].rsplit("/", 1)[1] for row in sorted(trace.rows("image"), key=lambda row: row["first"])
              if row["proc_id"] == main]
    this.equal("images of the main process", images, ["hooks_processes", "true"])


if __name__ == "__main__":
    case.run(check)
