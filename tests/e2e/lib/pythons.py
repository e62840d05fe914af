# SPDX-License-Identifier: Apache-2.0
"""The installed interpreters, by version: in PATH, of pyenv, and those that tests/setup/pythons.sh has fetched."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TELL = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"


def candidates():
    yield sys.executable
    for minor in range(6, 20):
        yield shutil.which(f"python3.{minor}")
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for place in sorted(root.glob("versions/*/bin/python3")):
        yield str(place)
    yield from sorted(str(place) for place in fetched().glob("python3.*/usr/bin/python3.*"))


def fetched():
    """As tests/vm/debian.sh says."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("MLRUN_VM_CACHE") or cache / "mlrun-vm")


def interpreters():
    """(major, minor): the first one that is found and has the global lock."""
    found = {}
    for path in filter(None, candidates()):
        done = subprocess.run([path, "-c", TELL], capture_output=True, text=True, check=False)
        words = done.stdout.split()
        if done.returncode == 0 and len(words) == 3 and words[2] == "0":
            found.setdefault((int(words[0]), int(words[1])), path)
    return found


def known():
    """Those whose stacks can be read."""
    return {version: path for version, path in interpreters().items() if (3, 11) <= version <= (3, 15)}
