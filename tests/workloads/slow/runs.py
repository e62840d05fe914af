# SPDX-License-Identifier: Apache-2.0
"""The table of programs: their commands, how one is run, the truth that it printed."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
BY_FILE = ["{python}", "{here}/{file}", "{name}", "--data", "{data}", "--seconds", "{seconds}"]


def programs():
    """name -> words of its command, with the {fields} that are filled in for a run."""
    with open(HERE / "programs.toml", "rb") as file:
        table = tomllib.load(file)
    named = {name: [word.replace("{file}", source).replace("{name}", name) for word in BY_FILE]
             for source, names in table["files"].items() for name in names}
    return {**named, **table["commands"]}


class Runner:
    """Makes the data first, and starts the server on the first demand: neither is part of a program's run."""

    def __init__(self, data, seconds, cxx):
        self.fields = {"python": sys.executable, "here": HERE, "data": Path(data).resolve(), "seconds": seconds, "cxx": cxx}
        self.server = None
        subprocess.run([sys.executable, HERE / "data.py", data], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self.server:
            self.server.stdin.close()
            self.server.wait()

    def command(self, words):
        if "{server}" in words and not self.server:
            self.server = subprocess.Popen([sys.executable, HERE / "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.fields["server"] = self.server.stdout.readline().strip()
        # Not format(): a shell's words may have braces.
        for field, value in self.fields.items():
            words = [word.replace("{" + field + "}", str(value)) for word in words]
        return words

    def run(self, words, before=(), timeout_s=600):
        """Runs it, under the command `before` if there is one. Returns its truth, or raises with what it printed."""
        done = subprocess.run([*map(str, before), *self.command(words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout_s, check=False)
        truth = truth_of(done.stdout)
        if done.returncode or not truth:
            raise RuntimeError(f"exit status {done.returncode}\n{done.stdout[-2000:]}")
        return truth


def truth_of(output):
    lines = [line for line in output.splitlines() if line.startswith('{"truth"')]
    return json.loads(lines[-1]) if lines else None
