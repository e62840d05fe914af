# SPDX-License-Identifier: Apache-2.0
"""mlrun mcp: traces for programs that speak the Model Context Protocol, over standard input and output.

Every answer has `status`: `measured`, with rows of the trace and a command that shows them again, or `could_not_run`, with the reason
and nothing else.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from mlrun_trace.errors import TraceError, WordParser, need
from mlrun_trace.interrupt import ends_by_interrupt
from mlrun_trace.output import checks_output
from mlrun_trace.sandbox import ROWS_MOST, Sandbox
from mlrun_trace.trace import Trace

INSTRUCTIONS = """Traces of programs by mlrun: calls on files, allocations, waits, GPU work, block requests, samples, on one clock (ns of CLOCK_MONOTONIC).
Begin with findings: why the run was slow. Then tables and schema, then query (SELECT in DuckDB's SQL; every table is a view of its name).
An answer whose status is could_not_run measured nothing: do not draw conclusions from it."""


class Traces:
    """The traces that are served, by the name of their folder."""

    def __init__(self, folders: list[str]) -> None:
        self.traces = {trace.names[0]: trace for trace in (Trace([folder]) for folder in folders)}
        if len(self.traces) != len(folders):
            raise TraceError("two traces have folders of the same name: rename one of them")
        self.sandboxes = {name: Sandbox(trace) for name, trace in self.traces.items()}

    def sandbox(self, name: str) -> Sandbox:
        if not name and len(self.sandboxes) == 1:
            return next(iter(self.sandboxes.values()))
        if name not in self.sandboxes:
            raise TraceError(f"there is no trace {name!r}; there is {', '.join(self.sandboxes)}")
        return self.sandboxes[name]

    def list_traces(self) -> dict[str, Any]:
        """The traces: name, command, exit status, wall time."""
        rows = [{"trace": name, "command": " ".join(map(str, trace.facts[0].get("command", []))), "exit_status": trace.facts[0].get("exit_status"),
                 "wall_ns": trace.facts[0].get("wall_ns")} for name, trace in self.traces.items()]
        return {"rows": rows, "verify": "mlrun list"}

    def findings(self, trace: str = "") -> dict[str, Any]:
        """Why the run was slow: causes in order, each with claim, ns, share, interval, evidence, command, remedy, and what speaks against it."""
        sandbox = self.sandbox(trace)
        answer = sandbox.query("FROM finding")
        answer["verify"] = f"mlrun report {sandbox.folder}"
        return answer

    def tables(self, trace: str = "") -> dict[str, Any]:
        """The tables of a trace with their number of rows; tables of streams that were off have no rows."""
        sandbox = self.sandbox(trace)
        names = [row["name"] for row in sandbox.query("SELECT view_name AS name FROM duckdb_views() WHERE NOT internal ORDER BY 1", ROWS_MOST)["rows"]]
        counts = " UNION ALL ".join(f"""SELECT '{name}' AS "table", count(*) AS rows FROM "{name}" """ for name in names)
        return sandbox.query(counts)

    def schema(self, table: str, trace: str = "") -> dict[str, Any]:
        """Columns and types of a table."""
        sandbox = self.sandbox(trace)
        name = table.replace("'", "''")
        answer = sandbox.query(f"SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = '{name}' ORDER BY column_index")
        if not answer["rows"]:
            raise TraceError(f"there is no table {table}; list the tables with the tool tables")
        return answer

    def query(self, sql: str, trace: str = "") -> dict[str, Any]:
        """Runs one SELECT, at most 30 s and 1 GiB, 1000 rows. Select ids (call_id, file_id, thread_id ...) to refer to rows."""
        return self.sandbox(trace).query(sql)


def answered(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Adds the status to an answer, so that a query that was not run does not look like a measurement."""

    @functools.wraps(tool)
    def run(*words: Any, **named: Any) -> dict[str, Any]:
        try:
            return {"status": "measured", **tool(*words, **named)}
        except TraceError as error:
            return {"status": "could_not_run", "reason": str(error)}

    return run


def serve(traces: Traces) -> None:
    server = need("mcp.server").MCPServer("mlrun", instructions=INSTRUCTIONS)
    for tool in (traces.list_traces, traces.findings, traces.tables, traces.schema, traces.query):
        server.tool()(answered(tool))
    server.run("stdio")


@ends_by_interrupt
@checks_output
def main() -> int:
    parser = WordParser(prog="mlrun mcp", description="Serves traces over standard input and output, by the Model Context Protocol.",
                        epilog="Examples:\n  mlrun mcp mlrun-train-1\n\nNeeds mcp and duckdb: pip install 'mlrun-tracer[data,mcp]'.")
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="traces to serve; only these can be read")
    try:
        serve(Traces(parser.parse_args().traces))
    except TraceError as error:
        print(f"mlrun: error: {error}", file=sys.stderr)
        return 125
    return 0


if __name__ == "__main__":
    sys.exit(main())
