# SPDX-License-Identifier: Apache-2.0
"""The frame of one end-to-end case: a folder of its own, mlrun and the victims of the build, and checks that say what
differs.

A case is a script: `if __name__ == "__main__": case.run(its_function)`. Exit status 0: it holds, 77: it cannot be tried
on this system (the reason is printed), else it does not hold. The folder of a case that failed is kept.
"""

import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

from lib import labels
from lib.trace import Trace

SOURCE = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MLRUN_BUILD", SOURCE / "build")).resolve()
MLRUN = BUILD / "bin" / "mlrun"
SKIPPED = 77
DISCARDED_AT_ONCE = 1 << 20  # bytes of a file
# Variables of the test run or of a session around it, not of the programs under test.
NOT_INHERITED = ("MLRUN_BUILD", "MLRUN_DISCARDED", "MLRUN_SESSION", "LD_PRELOAD", "NVTX_INJECTION64_PATH")


class Skip(Exception):
    """This case cannot be tried here."""


def has_huge_pages():
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return setting.exists() and "[never]" not in setting.read_text(encoding="ascii")


def need_huge_pages():
    """Skips a case about `mlrun advise --fast huge=SIZE` where no block can have huge pages: it is refused there."""
    if not has_huge_pages():
        raise Skip("this kernel makes no huge pages")


class Case:
    def __init__(self, name):
        self.folder = BUILD / "e2e" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.environment = {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}
        self.traces = 0

    def path(self, name):
        return self.folder / name

    def victim(self, name):
        return str(BUILD / "e2e" / "victims" / name)

    def data_file(self, size_bytes=1 << 20):
        """A file of known bytes to read from: byte i is i % 251."""
        path = self.path("data.bin")
        if not path.exists():
            path.write_bytes((bytes(range(251)) * (size_bytes // 251 + 1))[:size_bytes])
        return str(path)

    def new_trace(self):
        self.traces += 1
        return self.path(f"trace{self.traces}")

    def command(self, *command, out, options=()):
        return [str(MLRUN), "--preload", "--quiet", "-o", str(out), *options, "--", *map(str, command)]

    def run(self, *command, timeout=120, **more):
        """Runs anything; stdout and stderr as text."""
        more = {"env": self.environment, "cwd": self.folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE, "text": True, "errors": "surrogateescape"} | more
        return subprocess.run([str(item) for item in command], timeout=timeout, check=False, **more)

    def trace(self, *command, options=(), status=0, **more):
        """Traces a command that must end with `status`, and opens its trace."""
        out = self.new_trace()
        done = self.run(*self.command(*command, out=out, options=options), **more)
        self.equal("exit status", done.returncode, status, said=done.stderr)
        trace = self.opened(out)
        trace.stdout, trace.stderr = done.stdout, done.stderr
        return trace

    def opened(self, out):
        """Opens an existing trace. With kernel data, checks that every row's labels add up."""
        trace = Trace(out)
        if trace.run.get("kernel_side"):
            self.equal("rows whose labels are wrong", labels.faults(trace)[:5], [])
        return trace

    def equal(self, what, got, wanted, said=""):
        if got != wanted:
            raise AssertionError(f"{what}: {got!r}, wanted {wanted!r}" + (f"\nit said:\n{said}" if said else ""))

    def true(self, what, holds, shown=""):
        if not holds:
            raise AssertionError(what + (f": {shown}" if shown != "" else ""))

    def untraced_and_traced(self, *command, options=(), after=None, **more):
        """The same command twice: stdout, stderr, exit status and what after() returns must be equal. The trace."""
        plain = self.run(*command, **more)
        expected = (plain.stdout, plain.stderr, plain.returncode, after() if after else None)
        out = self.new_trace()
        traced = self.run(*self.command(*command, out=out, options=options), **more)
        seen = (traced.stdout, traced.stderr, traced.returncode, after() if after else None)
        for what, got, wanted in zip(("stdout", "stderr", "exit status", "afterwards"), seen, expected, strict=True):
            wanted = 128 - wanted if what == "exit status" and wanted < 0 else wanted
            self.equal(what + " of the traced run", got, wanted, said=traced.stderr)
        return self.opened(out)


def is_child_that_runs(process, parent, program):
    try:
        # Bytes: the name in it may be anything.
        is_child = int((process / "stat").read_bytes().rpartition(b")")[2].split()[1]) == parent
        return is_child and os.readlink(process / "exe") == str(program)
    except OSError:  # it has ended
        return False


def wait_until_runs(parent, program, seconds=60):
    """A child of `parent` is `program`."""
    end = time.monotonic() + seconds
    while not any(is_child_that_runs(process, parent, program) for process in Path("/proc").glob("[0-9]*")):
        if time.monotonic() > end:
            raise AssertionError(f"{program} did not begin within {seconds} s")
        time.sleep(0.002)


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


def need_command(*command):
    """Skips the case if this command fails: a system may refuse it even to root, for instance a namespace inside a container."""
    need_program(command[0])
    tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if tried.returncode != 0:
        said = tried.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Skip(f"{' '.join(command)} is refused here: {' '.join(said)}")


def need_mounts():
    need_root()
    need_command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt")


def need_pid_namespace():
    need_root()
    need_command("unshare", "-pf", "true")


def need_program(name):
    if not shutil.which(name):
        raise Skip(f"needs {name}")


# ext4 without a journal reuses no number of an inode for a minute, and looks past all of these for each new file: that took a fifth of the processor
# time of all tests. So tests/run names a folder for what is done with, and removes it at its end. Large files do not wait for that.
def discard(folder):
    later = os.environ.get("MLRUN_DISCARDED")
    try:
        if later:
            for path in folder.rglob("*"):
                if not path.is_symlink() and path.is_file() and path.stat().st_size >= DISCARDED_AT_ONCE:
                    path.unlink()
            folder.rename(Path(later) / f"{folder.name}.{os.getpid()}")
    except OSError:  # for instance on another file system
        pass
    shutil.rmtree(folder, ignore_errors=True)


def run(function):
    name = Path(sys.argv[0]).stem
    this = Case(name)
    try:
        function(this)
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    except Exception:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        print(f"{name}: kept in {this.folder}", file=sys.stderr)
        sys.exit(1)
    discard(this.folder)
