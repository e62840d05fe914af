# SPDX-License-Identifier: Apache-2.0
"""Hundreds of children by vfork from two threads and by posix_spawn all end well, and the parent's descriptors are
unchanged."""

from lib import case

COUNT = 150


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("vfork_storm"), COUNT, data)
    programs = [image["exe"] for image in trace.rows("image") if image["exe"].endswith("/true")]
    this.equal("children by vfork", len(programs), 2 * COUNT)
    trace = this.untraced_and_traced(this.victim("spawn_storm"), COUNT, data)
    shells = [image for image in trace.rows("image") if image["arguments"].startswith("sh -c read")]
    this.equal("children by posix_spawn", len(shells), COUNT)
    reads = [call for call in trace.calls_of("read", path=data)]
    this.equal("processes that read the inherited descriptor", len({call.proc_id for call in reads}), COUNT)


if __name__ == "__main__":
    case.run(check)
