# SPDX-License-Identifier: Apache-2.0
"""The notebook runs from its first cell to its last, on a trace and a sweep that this test records, and shows what they hold.

Usage: notebook_test.py MLRUN
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import nbclient
import nbformat

MLRUN = str(Path(sys.argv.pop(1)).resolve())
PACKAGE = Path(__file__).resolve().parents[3] / "runner" / "python"
PLAN = """
repetitions = 2
workloads = "cat data"
[[configuration]]
name = "untraced"
dry = true
[[configuration]]
name = "traced"
"""


class Notebook(unittest.TestCase):
    def test_every_cell_runs(self):
        with tempfile.TemporaryDirectory() as holder:
            folder = Path(holder)
            (folder / "data").write_bytes(bytes(1 << 20))
            (folder / "plan.toml").write_text(PLAN)
            for words in (("--preload", "--quiet", "-o", "mlrun-train-1", "cat", "data"), ("sweep", "plan.toml", "-o", "results")):
                done = subprocess.run([MLRUN, *words], cwd=folder, capture_output=True, text=True, errors="replace", check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
            # What the kernel of the notebook writes beside its cells: settings and connections.
            os.environ.update({"PYTHONPATH": str(PACKAGE), "HOME": holder, "IPYTHONDIR": holder, "JUPYTER_RUNTIME_DIR": holder, "MPLCONFIGDIR": holder})
            notebook = nbformat.read(PACKAGE / "first_look.ipynb", as_version=4)
            nbformat.validate(notebook)
            nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": holder}}).execute()
            shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
            texts = [output["data"]["text/plain"] for output in shown if "data" in output]
            self.assertTrue(any("data" in text and "1048576" in text for text in texts), "the bytes that cat read of its file")
            self.assertTrue(any("untraced" in text and "traced" in text for text in texts), texts[-1])
            self.assertEqual(sum("image/png" in output.get("data", {}) for output in shown), 1)


if __name__ == "__main__":
    unittest.main()
