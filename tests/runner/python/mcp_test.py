# SPDX-License-Identifier: Apache-2.0
"""mlrun mcp, asked by the protocol's own client; and hostile statements, which write nothing and read nothing outside the trace.

Usage: mcp_test.py MLRUN [CASE...]
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import pyarrow.parquet as pq

PACKAGE = Path(__file__).resolve().parents[3] / "runner" / "python"
sys.path.insert(0, str(PACKAGE))
import mlrun_trace
from mlrun_trace.sandbox import Refused, Sandbox

MLRUN = sys.argv.pop(1)
SECRET = "the word that no answer may contain"
# {secret}: a file outside of the trace; {trace}: its folder; {out}: a folder that can be written.
HOSTILE = """
SELECT * FROM read_text('{secret}')
SELECT * FROM read_blob('{secret}')
SELECT * FROM read_csv('{secret}')
SELECT * FROM read_csv_auto('{secret}', header=false)
SELECT * FROM read_json('{secret}')
SELECT * FROM read_json_objects('{secret}')
SELECT * FROM read_parquet('{secret}')
SELECT * FROM parquet_metadata('{secret}')
SELECT * FROM sniff_csv('{secret}')
SELECT * FROM '{secret}'
SELECT * FROM glob('{out}/*')
SELECT * FROM read_text('{trace}/tables/../../secret.txt')
SELECT * FROM read_text('{trace}/tables/call/../../../secret.txt')
SELECT * FROM read_text('{trace}/run.json')
SELECT * FROM read_text('/proc/self/environ')
SELECT * FROM query('COPY (SELECT 1) TO ''{out}/x.csv''')
SELECT * FROM query_table('{secret}')
SELECT getenv('SECRET_WORD')
FROM read_text('{secret}')
WITH x AS (FROM read_text('{secret}')) SELECT * FROM x
SELECT (SELECT content FROM read_text('{secret}'))
COPY (SELECT 1) TO '{out}/x.csv'
COPY (SELECT 1) TO '{trace}/tables/x.parquet'
COPY call TO '{trace}/tables/call/part-00000.parquet' (FORMAT parquet)
EXPORT DATABASE '{out}/db'
IMPORT DATABASE '{out}/db'
ATTACH '{out}/x.duckdb'
ATTACH '{out}/x.duckdb' AS x (READ_WRITE)
CREATE TABLE t AS SELECT 1
CREATE VIEW v AS FROM read_text('{secret}')
INSERT INTO call SELECT * FROM call
DELETE FROM call
DROP VIEW call
INSTALL httpfs
LOAD httpfs
SET enable_external_access = true
SET allowed_directories = ['/']
RESET lock_configuration
PRAGMA enable_profiling
PRAGMA database_list
CALL pragma_version()
EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}/x.csv'
SELECT 1; COPY (SELECT 1) TO '{out}/x.csv'
SELECT 1; SELECT * FROM read_text('{secret}')
PREPARE p AS COPY (SELECT 1) TO '{out}/x.csv'
BEGIN TRANSACTION
CHECKPOINT
VACUUM
USE memory
SELECT * FROM 'https://example.org/x.csv'
SELECT load_extension('{secret}')
not sql at all
""".strip().splitlines()


def contents(folder):
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


class WithATrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.secret = cls.folder / "secret.txt"
        cls.secret.write_text(SECRET)
        os.environ["SECRET_WORD"] = SECRET
        cls.trace = cls.folder / "trace"
        subprocess.run([MLRUN, "--preload", "--quiet", "-o", str(cls.trace), "--", "/bin/cat", str(cls.secret)], check=True, capture_output=True)


class OfTheSandbox(WithATrace):
    def test_hostile_statements_write_nothing_and_read_nothing_outside(self):
        sandbox = Sandbox(mlrun_trace.open(self.trace))
        before = contents(self.folder)
        for statement in HOSTILE:
            query = statement.format(secret=self.secret, trace=self.trace, out=self.folder)
            try:
                answer = json.dumps(sandbox.query(query)["rows"])
            except Refused as error:
                answer = str(error)
                self.assertTrue(answer, query)
            self.assertNotIn(SECRET, answer, query)
            self.assertEqual(contents(self.folder), before, query)
        self.assertGreaterEqual(len(HOSTILE), 40)
        self.assertTrue(sandbox.query("SELECT count(*) AS n FROM call")["rows"][0]["n"] > 0, "it works after all of them")

    def test_a_folder_whose_name_is_a_pattern_matches_only_itself(self):
        for name in ("t[1]", "t*"):
            folder = Path(shutil.copytree(self.trace, self.folder / name))
            sandbox = Sandbox(mlrun_trace.open(folder))
            calls = sandbox.query("SELECT count(*) AS n FROM call")["rows"][0]["n"]
            self.assertEqual(calls, len(mlrun_trace.open(self.trace).table("call")), name)
            with self.assertRaises(Refused):
                sandbox.query(f"FROM read_text('{self.secret}*')")

    def test_a_query_ends_in_time_and_within_its_memory(self):
        sandbox = Sandbox(mlrun_trace.open(self.trace), seconds=0.5)
        begin = time.monotonic()
        with self.assertRaisesRegex(Refused, "stopped after 0.5 s"):
            sandbox.query("SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range % 7 = b.range % 11")
        self.assertLess(time.monotonic() - begin, 20)
        patient = Sandbox(mlrun_trace.open(self.trace))
        with self.assertRaisesRegex(Refused, "(?i)memory"):
            patient.query("SELECT list(range) FROM range(2000000000)")

    def test_long_answers_are_cut_and_marked(self):
        sandbox = Sandbox(mlrun_trace.open(self.trace))
        answer = sandbox.query("SELECT range FROM range(5000)")
        self.assertEqual((len(answer["rows"]), answer["truncated"]), (1000, True))
        answer = sandbox.query("SELECT call_id, file_id, func FROM call")
        self.assertEqual((answer["truncated"], answer["ids"]), (False, ["call_id", "file_id"]))
        run = subprocess.run(["sh", "-c", answer["verify"].replace("python3", sys.executable)], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, check=True,
                             capture_output=True, text=True)
        self.assertEqual(len(run.stdout.strip().splitlines()) - 1, len(answer["rows"]))


class ByTheProtocol(WithATrace):
    def ask(self, questions):
        import mcp
        from mcp.client.stdio import stdio_client

        async def go():
            server = mcp.StdioServerParameters(command=sys.executable, args=["-m", "mlrun_trace.mcp", str(self.trace)], env={**os.environ, "PYTHONPATH": str(PACKAGE)})
            async with stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
                await session.initialize()
                names = [tool.name for tool in (await session.list_tools()).tools]
                return names, [(await session.call_tool(name, words)).structured_content for name, words in questions]

        return asyncio.run(go())

    def test_every_tool_is_listed_and_answers(self):
        rows = sum(pq.read_metadata(part).num_rows for part in (self.trace / "tables" / "call").glob("*.parquet"))
        names, answers = self.ask([("list_traces", {}), ("findings", {}), ("tables", {}), ("schema", {"table": "call"}), ("query", {"sql": "SELECT count(*) AS n FROM call"})])
        self.assertEqual(names, ["list_traces", "findings", "tables", "schema", "query"])
        self.assertEqual([answer["status"] for answer in answers], ["measured"] * 5, answers)
        self.assertTrue(all(answer["verify"] for answer in answers))
        self.assertEqual(answers[0]["rows"][0]["trace"], "trace")
        self.assertIn({"table": "call", "rows": rows}, answers[2]["rows"])
        self.assertIn("dur", [row["column_name"] for row in answers[3]["rows"]])
        self.assertEqual(answers[4]["rows"], [{"n": rows}])

    def test_failed_queries_are_not_reported_as_measured(self):
        _, answers = self.ask([("query", {"sql": "COPY call TO 'x.csv'"}), ("query", {"sql": "SELECT nothing FROM call"}), ("schema", {"table": "calls"}), ("findings", {"trace": "other"})])
        for answer in answers:
            self.assertEqual(sorted(answer), ["reason", "status"])
            self.assertEqual(answer["status"], "could_not_run")


if __name__ == "__main__":
    unittest.main()
