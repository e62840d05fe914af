# SPDX-License-Identifier: Apache-2.0
"""Two processes that are both pid 1 of their own pid namespaces: the result is as untraced, and the trace has two
processes with the pids that mlrun sees."""

import os

from lib import case, serials

CALLS = 400000  # lives long enough to be found
# The first one lives until the second one has ended: else both namespaces might have the same number. They are met at once,
# while mlrun looks for pids of other namespaces a tenth of its time at most: the second one is found a little later.
TWO = """exec 3<>"$0"
unshare -pf sh -c '"$@"; status=$?; read -r _ <&3; exit $status' sh "$@" &
unshare -pf "$@"
second=$?
echo >&3
wait $!
echo $second $?"""


def check(this):
    case.need_pid_namespace()
    data = this.data_file()
    pipe = this.path("pipe")
    os.mkfifo(pipe)
    trace = this.untraced_and_traced("/bin/sh", "-c", TWO, pipe, this.victim("numbered"), data, CALLS, "exit")
    serials.expect_threads(this, trace.serials(data), [CALLS, CALLS])
    inside = [row for row in trace.rows("process") if row["ns_pid"] == 1]
    this.equal("processes that are pid 1 inside", len(inside), 2)
    this.equal("their pid namespaces", len({row["pid_namespace"] for row in inside}), 2)
    this.true("their pids outside", len({row["pid"] for row in inside} - {1}) == 2, inside)
    this.true("each has a parent", all(row["parent_proc_id"] for row in inside), inside)


if __name__ == "__main__":
    case.run(check)
