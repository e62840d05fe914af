# SPDX-License-Identifier: Apache-2.0
"""What the figures were measured on: the machine, its load and the versions of everything that matters."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

BUSY_LOAD = 0.5  # a load average above this at the start means that the machine is in use


def read(path, default=""):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return default


def cpu_fields():
    first = read("/proc/cpuinfo").split("\n\n")[0].replace("\t", "")
    return dict(line.split(":", 1) for line in first.splitlines() if ":" in line)


def commit_of(checkout):
    """The commit, with -dirty where files differ from it; empty outside a git checkout."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12"],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def stolen_ticks():
    return int(read("/proc/stat").splitlines()[0].split()[8])


def describe_machine(checkout):
    cpu = cpu_fields()
    memory_kib = int(read("/proc/meminfo").splitlines()[0].split()[1])
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu.get("model name", "").strip(),
        "cpus": os.cpu_count(),
        "virtual": "hypervisor" in cpu.get("flags", "").split(),
        "memory_gib": round(memory_kib / 2**20, 1),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", ""),
        "clocksource": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "none"),
        "load_at_start": os.getloadavg()[0],
        "mlrun_commit": commit_of(checkout),
    }


def machine_lines(machine):
    kind = "virtual" if machine["virtual"] else "physical"
    load = f"load {machine['load_at_start']:.2f} at the start"
    if "load_at_end" in machine:
        load += f", {machine['load_at_end']:.2f} at the end; {machine['stolen_s']:.1f} s of CPU time stolen by the host"
    hardware = f"{machine['cpu']}, {machine['cpus']} CPUs ({kind}), {machine['memory_gib']} GiB"
    software = f"{machine['system']}, Linux {machine['kernel']}, {machine['libc']}"
    clock = f"clocksource {machine['clocksource']}, governor {machine['governor']}"
    lines = [
        f"{machine['date']}  mlrun {machine['mlrun_commit'] or 'of an unknown commit'}",
        f"{hardware}, {software}, {clock}",
        load,
    ]
    if machine["load_at_start"] > BUSY_LOAD:
        lines.append("The machine was not quiet when this began: do not quote these figures.")
    return lines
