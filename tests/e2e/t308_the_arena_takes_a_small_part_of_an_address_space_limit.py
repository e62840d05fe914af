# SPDX-License-Identifier: Apache-2.0
"""Under RLIMIT_AS the arena's mapping takes a small part of the limit; when hardly any room is left, the program runs
untraced and the trace says so."""

import resource

from lib import case, serials

CALLS = 50000


def limited(size_bytes):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (size_bytes, size_bytes))}


def check(this):
    data = this.data_file()
    shell = ("/bin/sh", "-c", 'ulimit -v "$1" && shift && exec "$@"', "sh")
    trace = this.untraced_and_traced(*shell, 400000, this.victim("address_space"), data, CALLS)
    serials.expect_threads(this, trace.serials(data), [CALLS])
    without = this.untraced_and_traced(*shell, 30000, this.victim("address_space"), data, CALLS)
    this.equal("calls recorded where there is no room", without.calls_of("pread", path=data), [])
    this.equal("processes without room that coverage tells",
               [row["kernel"] for row in without.covers("address space limit leaves no room")], [1])
    whole = this.run(*this.command(this.victim("numbered"), data, 10, "exit", out=this.new_trace()), **limited(1 << 30))
    this.equal("mlrun itself under a limit of 1 GiB", whole.returncode, 7, said=whole.stderr)


if __name__ == "__main__":
    case.run(check)
