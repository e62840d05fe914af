# SPDX-License-Identifier: Apache-2.0
"""The BPF programs of an mlrun-probes, and those of them that the kernel still has. Uses only the standard library, so that
guests can run it."""

import json
import subprocess
from pathlib import Path


def probes_of(mlrun):
    """The process of mlrun-probes that belongs to that mlrun, or None."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "mlrun-probes" and int(rest.split()[1]) == mlrun:
            return int(folder.name)
    return None


def programs_held_by(pid):
    """Numbers of all BPF programs that a process holds by a descriptor of the program or of its link."""
    found = set()
    for entry in Path(f"/proc/{pid}/fdinfo").glob("*"):
        try:
            lines = entry.read_text().splitlines()
        except OSError:
            continue
        found |= {int(line.split()[1]) for line in lines if line.startswith("prog_id:")}
    return found


def programs_loaded(numbers):
    """Those of these programs that the kernel still has, as {number: name}."""
    listed = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout
    return {row["id"]: row.get("name", "") for row in json.loads(listed) if row["id"] in numbers}
