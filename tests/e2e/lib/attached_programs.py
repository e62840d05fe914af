# SPDX-License-Identifier: Apache-2.0
"""The currently attached BPF programs, from the kernel (bpftool)."""

import json
import subprocess

from lib.loaded_programs import programs_held_by


def listed(kind):
    return json.loads(subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True, check=True).stdout)


def attached_by(pid):
    """Names of the BPF programs of that process that are attached to something, each cut to the 15 characters that the kernel
    itself keeps: newer versions of bpftool know the rest."""
    numbers = {link["prog_id"] for link in listed("link") if "prog_id" in link} & programs_held_by(pid)
    return {program.get("name", "")[:15] for program in listed("prog") if program["id"] in numbers}
