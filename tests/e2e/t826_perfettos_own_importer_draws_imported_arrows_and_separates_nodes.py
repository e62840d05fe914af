# SPDX-License-Identifier: Apache-2.0
"""Perfetto's trace processor has the same arrows, from slice to slice, of a file and of what is exported after its import; processes of two nodes with equal pids
are two for it, and so are their stacks. Needs Node."""

import json

import t819_nodes_of_a_merged_trace_stay_apart as two_nodes

from lib import case
from lib.exported import export
from lib.flow_sample import EVENTS
from lib.imported import imported
from lib.trace_processor import FAULTS, asked, dist

# An end that is a point represents the slice that it is in.
ARROWS = """WITH named AS (SELECT s.id, iif(s.category = 'flow', p.name, s.name) AS name FROM slice s LEFT JOIN slice p ON p.id = s.parent_id)
SELECT a.name, b.name FROM flow f JOIN named a ON a.id = f.slice_out JOIN named b ON b.id = f.slice_in ORDER BY 1, 2"""
PROCESSES = "SELECT count(DISTINCT upid), count(DISTINCT pid) FROM process WHERE pid > 0 AND name LIKE 'node%'"
CALLS = "SELECT substr(p.name, 1, 5), count(*) FROM slice s JOIN thread_track t ON s.track_id = t.id JOIN thread USING (utid) JOIN process p USING (upid) WHERE s.category = 'call' GROUP BY 1 ORDER BY 1"


def check(this):
    processor = dist()
    path = this.path("flows.json")
    # The processor takes no id that is not a number, and turns an arrow around whose slice at the end began before.
    path.write_text(json.dumps([event for event in EVENTS if event.get("id") not in ("zeta", 5)]))
    [wanted] = asked(this, processor, path, ARROWS)
    out, _ = export(this, imported(this, path), "perfetto", "flows.pftrace")
    faults, found = asked(this, processor, out, FAULTS, ARROWS)
    this.equal("faults", faults, [])
    this.equal("arrows", found, wanted)
    again, _ = export(this, imported(this, path), "chrome", "again.json")
    faults, found = asked(this, processor, again, FAULTS, ARROWS)
    # As in the file, an end may be on a thread without slices: the kernel is on the track of its stream now, with an arrow by its correlation.
    this.equal("faults of JSON", [row for row in faults if row[0] != "flow_no_enclosing_slice"], [])
    this.equal("arrows of JSON", [row for row in found if row[0] != "cudaLaunchKernel"], [row for row in wanted if row[0] != "cudaLaunchKernel"])

    this.mlrun = case.MLRUN
    out, _ = export(this, two_nodes.merged(this), "perfetto", "nodes.pftrace")
    faults, processes, calls = asked(this, processor, out, FAULTS, PROCESSES, CALLS)
    this.equal("faults of two nodes", faults, [])
    this.equal("processes", processes, [["4", "4"]])
    this.equal("calls on threads", [row[0] for row in calls], ["node0", "node1"])
    this.equal("as many", calls[0][1], calls[1][1])


if __name__ == "__main__":
    case.run(check)
