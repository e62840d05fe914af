# SPDX-License-Identifier: Apache-2.0
"""Arrows that were imported as their ends are arrows again: in Perfetto's format between the slices that they were bound to, in Chrome's the same events,
in OTF2 messages. An end without the other is a point, and no arrow hangs."""

import json
from collections import Counter

from lib import case, perfetto_file
from lib.exported import every_row_is_told_of, export
from lib.flow_sample import ARROWS, BETWEEN_POINTS, EVENTS, LONE
from lib.imported import imported
from lib.otf2_check import read_archive


def check_perfetto(this, trace):
    out, printed = export(this, trace, "perfetto", "flows.pftrace")
    every_row_is_told_of(this, trace, printed)
    file = perfetto_file.read(out)
    this.equal("faults", file.faults, [])
    begins = {flow: one for one in file.slices for flow in one.flows_out}
    ends = {flow: one for one in file.slices for flow in one.flows_in}
    this.equal("arrows that hang", begins.keys() ^ ends.keys(), set())
    this.true("that begin before they end", all(begins[flow].ts <= ends[flow].ts for flow in ends))
    this.equal("arrows", Counter((begins[flow].name, ends[flow].name) for flow in ends), Counter(ARROWS))
    points = [one for one in file.slices if one.table == "flow"]
    this.equal("points", Counter(one.args["flow_id"] for one in points), Counter(LONE))


def chrome_flows(events, offset):
    found = Counter()
    for event in events:
        if event["ph"] in ("s", "t", "f") and event.get("cat") != "arrow":
            number = int(event["id"], 0) if isinstance(event["id"], str) and not event["id"].startswith("z") else event["id"]
            found[event["ph"], event.get("name"), event.get("cat"), number, event.get("bp"), round(event["ts"] * 1000) + offset, event["tid"]] += 1
    return found


def check_chrome(this, trace):
    out, printed = export(this, trace, "chrome", "flows.json")
    every_row_is_told_of(this, trace, printed)
    exported = json.loads(out.read_text())
    this.true("times are those of the file: its clock is unknown", "baseTimeNanoseconds" not in exported)
    this.equal("ends of arrows", chrome_flows(exported["traceEvents"], 0), chrome_flows(EVENTS, 0))


def check_otf2(this, trace):
    out, printed = export(this, trace, "otf2", "flows.otf2")
    every_row_is_told_of(this, trace, printed)
    archive = read_archive(out)
    this.equal("what is wrong with the archive", archive.wrong, [])
    sent, received = ({(comm, tag): (time, at, peer) for kind, time, at, peer, comm, tag, _ in archive.messages if kind == wanted}
                      for wanted in ("MpiSend", "MpiRecv"))
    this.equal("messages", len(archive.messages), 2 * len(sent))
    this.equal("each is received", sent.keys(), received.keys())
    for key, (time, at, peer) in sent.items():
        this.equal("by whom it is sent to", received[key][1:], (peer, at))
        this.true("later", received[key][0] >= time, (key, sent, received))
    this.equal("as many as arrows", len(sent), sum(ARROWS.values()))
    this.equal("categories", {comm for comm, _ in sent}, {"f", "g", "ac2g"})
    ids = Counter(value for *_, attributes in archive.messages for key, value in attributes.items() if key.name == "flow_id")
    this.equal("with their columns", ids[1], 4)
    lone = Counter(value for _, _, region, attributes in archive.entered if region.description == "flow"
                   for key, value in attributes.items() if key.name == "flow_id")
    this.equal("ends without the other", lone, Counter(LONE) - Counter(BETWEEN_POINTS))


def check(this):
    path = this.path("flows.json.in")
    path.write_text(json.dumps(EVENTS))
    trace = imported(this, path)
    this.equal("ends in the trace", trace.count("flow"), sum(event["ph"] in "stf" for event in EVENTS))
    check_perfetto(this, trace)
    check_chrome(this, trace)
    check_otf2(this, trace)


if __name__ == "__main__":
    case.run(check)
