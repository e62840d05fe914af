# SPDX-License-Identifier: Apache-2.0
"""Stacks of a trace, as a reader joins them: the tables `stack` and `frame`."""

from dataclasses import dataclass


@dataclass
class Frame:
    function: str
    library: str
    source: str
    line: int
    state: str


class Stacks:
    def __init__(self, trace):
        frames = {row["frame_id"]: Frame(row["function"], row["library"] or "", row["source"] or "", row["line"],
                                         row["state"]) for row in trace.rows("frame")}
        self.by_id, self.ends = {}, {}
        for row in sorted(trace.rows("stack"), key=lambda row: (row["stack_id"], row["depth"])):
            self.by_id.setdefault(row["stack_id"], []).append(frames[row["frame_id"]])
            if row["ending"]:
                self.ends[row["stack_id"]] = row["ending"]

    def functions(self, stack_id):
        return [frame.function for frame in self.by_id.get(stack_id, [])]
