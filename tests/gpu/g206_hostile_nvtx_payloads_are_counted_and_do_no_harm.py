# SPDX-License-Identifier: Apache-2.0
"""NVTX payloads with members beyond their end, of size zero, nested, with arrays or with an unregistered layout: the
range is a mark with its readable members, the rest is counted, and the program runs as without mlrun."""

import json

from gpu_case import need_nvtx_program
from lib import case

# The readable members of each; None: none.
VALUES = {"ncclBeyond": {"Message size [bytes]": 12}, "ncclNested": {"li?ne \\xff": 56, "#9": 0}, "ncclNothing": None,
          "ncclNull": None, "ncclEndless": None, "ncclMany": None, "ncclUnknown": None, "ncclNoSchema": None,
          "ncclNoList": None, "": None}


def check(this):
    program = need_nvtx_program("collectives")
    trace = this.trace(program, "hostile")
    marks = trace.rows("mark")
    names = trace.names
    this.equal("marks", {names[row["name_id"]]: row["value"] and json.loads(row["value"]) for row in marks}, VALUES)
    this.equal("each once", len(marks), len(VALUES))
    this.equal("all have ended", [row for row in marks if row["open"]], [])
    rows = trace.rows("collective")
    this.equal("a collective from the readable members", [(row["operation"], row["bytes"], row["communicator"]) for row in rows],
               [("Beyond", 12, None)])
    reported = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "payloads of NVTX"]
    this.equal("coverage of the others", reported,
               ["8 have a layout that the program did not register: their marks have no value",
                "2 could be decoded only in part: their marks lack some members"])
    lost = [(row["channel"], row["count"]) for row in trace.rows("loss")]
    this.equal("a layout too large to keep is counted", lost, [("marks", 1)])
    untraced = this.run(program, "hostile")
    this.equal("without mlrun", (untraced.returncode, untraced.stdout), (0, ""))


if __name__ == "__main__":
    case.run(check)
