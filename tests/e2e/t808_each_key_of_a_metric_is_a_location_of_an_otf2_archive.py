# SPDX-License-Identifier: Apache-2.0
"""In an OTF2 archive the machine and its nodes, and the channels of a socket, are locations of their own, whose names differ and
whose properties are the keys; each has as many events as the key has rows."""

from collections import Counter

import otf2

from lib import case
from lib.exported import export, rows_of
from lib.made_trace import write


def location_of(table, row):
    if table == "sample_memory":
        return "sample_memory " + ("the machine" if row["node"] is None else f"node {row['node']}")
    channel = "all channels" if row["channel"] is None else f"channel {row['channel']}"
    return f"sample_bandwidth/{row['source']}/{row['kind']} socket {row['socket']} {channel}"


def bandwidth(trace):
    """Rows of two sockets with 16 channels each, all values different."""
    first = rows_of(trace, "sample_memory")[0]
    blank = {"source": "uncore", "kind": "dram", "total_bytes": None, "local_bytes": None}
    return [{"ts": first["ts"] + at, "dur": 1, "socket": socket, "channel": channel, "read_bytes": 100 * socket + (channel or 99),
             "written_bytes": at} | blank for at in (10, 20) for socket in (0, 1) for channel in (None, *range(16))]


def check(this):
    trace = this.trace("sleep", "0.6", options=["--sample=memory"])
    write(trace.folder, "sample_bandwidth", bandwidth(trace))
    out, _ = export(this, trace, "otf2", "archive")
    events, found = Counter(), {}
    with otf2.reader.open(str(out / "traces.otf2")) as read:
        for location, event in read.events:
            if type(event).__name__ == "Metric":
                events[location.name] += 1
                found[location.name] = location
    wanted = Counter(location_of(table, row) for table in ("sample_memory", "sample_bandwidth") for row in rows_of(trace, table))
    this.equal("events by location", {name: events[name] for name in wanted}, dict(wanted))
    this.equal("each is one location", [name for name, count in locations(out).items() if name in wanted and count != 1], [])
    of_channel, of_machine = found["sample_bandwidth/uncore/dram socket 1 channel 3"], found["sample_memory the machine"]
    this.equal("properties", [str(of_channel[name]) for name in ("table", "socket", "channel")], ["sample_bandwidth", "1", "3"])
    this.true("the machine has no node", "node" not in of_machine._properties)


def locations(out):
    with otf2.reader.open(str(out / "traces.otf2")) as read:
        return Counter(one.name for one in read.definitions.locations)


if __name__ == "__main__":
    case.run(check)
