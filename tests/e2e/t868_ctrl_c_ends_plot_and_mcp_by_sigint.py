# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in `mlrun plot` and `mlrun mcp`, while modules are imported and later: the verb ends by SIGINT without a message, and leaves
neither a picture nor a temporary folder. Where SIGINT is ignored it stays so."""

import signal
import subprocess
import sys
import time

from lib import case

# A module that takes its time: it says where it is, and lasts as long as nothing interrupts it.
LASTS = """import pathlib, time
pathlib.Path({mark!r}).touch()
time.sleep({seconds})
"""


class Verbs:
    def __init__(self, this):
        self.this, self.trace, self.number = this, this.trace("cat", "/etc/passwd").folder, 0

    def start(self, words, module, seconds, **more):
        """The verb, and within `module`, which is imported from a folder before those of Python."""
        self.number += 1
        home = self.this.path(f"home{self.number}")
        self.mark, self.scratch = home / "mark", home / "tmp"
        self.scratch.mkdir(parents=True)
        self.picture = home / "a.svg"
        file = home / "modules" / module
        file.parent.mkdir(parents=True)
        file.write_text(LASTS.format(mark=str(self.mark), seconds=seconds))
        if file.name != "__init__.py" and file.parent.name != "modules":
            (file.parent / "__init__.py").touch()
        environment = self.this.environment | {"MLRUN_PYTHON": sys.executable, "PYTHONPATH": str(home / "modules"), "TMPDIR": str(self.scratch)}
        process = subprocess.Popen([str(case.MLRUN), *(str(word).format(picture=self.picture, trace=self.trace) for word in words)],
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   **more)  # pylint: disable=consider-using-with
        end = time.monotonic() + 30
        while not self.mark.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        self.this.true(f"{words[0]} imports {module}", self.mark.exists(), process.poll())
        return process

    def interrupted(self, words, module):
        process = self.start(words, module, 60)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[0]
        self.this.equal(f"{words[0]} in {module}", (process.returncode, said), (-signal.SIGINT, ""))
        self.this.equal("what it leaves", ([*self.scratch.iterdir()], self.picture.exists()), ([], False))


def check(this):
    verbs = Verbs(this)
    plot = ("plot", "{trace}", "--what", "sizes", "-o", "{picture}")
    verbs.interrupted(plot, "tempfile.py")
    verbs.interrupted(plot, "matplotlib/__init__.py")
    verbs.interrupted(("mcp", "{trace}"), "mcp/server.py")

    process = verbs.start(("plot", "{trace}", "--what", "none", "-o", "{picture}"), "argparse.py", 1,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    this.true("an ignored signal ends nothing", process.returncode not in (-signal.SIGINT, None), process.returncode)


if __name__ == "__main__":
    case.run(check)
