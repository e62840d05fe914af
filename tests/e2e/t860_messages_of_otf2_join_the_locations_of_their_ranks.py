# SPDX-License-Identifier: Apache-2.0
"""Messages of an OTF2 archive by PyPI's otf2: in a communicator of which rank 0 is the last location, and in that of one location alone, a send joins the receive of the
location that it names; of two communicators with the same tag neither takes the other's."""

import otf2

from lib import case


def write_archive(folder):
    with otf2.writer.open(str(folder), timer_resolution=1_000_000_000) as archive:
        made = archive.definitions
        group = made.location_group("process", system_tree_parent=made.system_tree_node("machine"))
        locations = [made.location(f"thread {number}", group=group) for number in range(4)]
        writers = [archive.event_writer_from_location(location) for location in locations]
        made.group("all", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=locations)
        turned = made.comm("turned", group=made.group("turned", group_type=otf2.GroupType.COMM_GROUP, paradigm=otf2.Paradigm.MPI, members=[3, 1, 0]))
        itself = made.comm("self", group=made.group("self", group_type=otf2.GroupType.COMM_SELF, paradigm=otf2.Paradigm.MPI, members=[]))
        # turned: rank 0 is location 3, rank 1 is 1, rank 2 is 0.
        writers[3].mpi_send(1000, 1, turned, 7, 64)  # to location 1
        writers[1].mpi_send(1100, 2, turned, 7, 32)  # to location 0
        writers[2].mpi_send(1200, 0, itself, 7, 16)  # to itself
        writers[1].mpi_recv(2000, 0, turned, 7, 64)
        writers[0].mpi_recv(2100, 1, turned, 7, 32)
        writers[2].mpi_recv(2200, 0, itself, 7, 16)


def check(this):
    write_archive(this.path("archive"))
    trace = this.path("trace")
    done = this.run(case.MLRUN, "import", this.path("archive") / "traces.otf2", "-o", trace)
    this.equal("status", done.returncode, 0, said=done.stderr)
    read = this.opened(trace)
    names = {row["thread_id"]: row["comm"] for row in read.rows("thread")}
    ends = {}
    for row in read.rows("flow"):
        ends.setdefault(row["flow_id"], {})[row["step"]] = (names[row["thread_id"]], row["ts"])
    first = min(ts for flow in ends.values() for _, ts in flow.values())
    joined = sorted((flow["start"][1] - first, flow["start"][0], flow["end"][1] - first, flow["end"][0]) for flow in ends.values() if len(flow) == 2)
    this.equal("messages", joined, [(0, "thread 3", 1000, "thread 1"), (100, "thread 1", 1100, "thread 0"), (200, "thread 2", 1200, "thread 2")], said=done.stderr)


if __name__ == "__main__":
    case.run(check)
