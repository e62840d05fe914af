# SPDX-License-Identifier: Apache-2.0
"""The tools that mlrun is measured beside: how to run each, by its own documentation, and to count what it recorded."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

from tracers import Launch, Recorded, Tracer, first_line, size_of

FILE_CALLS = (
    "%file,read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,close,lseek,fsync,fdatasync,"
    "fstat,getdents64,dup,dup2,dup3,fcntl,fork,vfork,clone,clone3"
)
UFTRACE_CALL_BYTES = 32  # one record of 16 bytes at the entry and one at the exit


class Strace(Tracer):
    name = "strace"
    about = "strace -f --seccomp-bpf, file and process calls with time stamps"
    program = "strace"
    shares_cpu = True
    shorter_loops = 20

    def launch(self, command, folder):
        return Launch(
            [
                "strace",
                "-f",
                "--seccomp-bpf",
                "-ttt",
                "-T",
                "-e",
                f"trace={FILE_CALLS}",
                "-o",
                str(folder / "strace.txt"),
                *command,
            ]
        )

    def recorded(self, folder, ended):
        path = folder / "strace.txt"
        with open(path, "rb") as lines:
            return Recorded(events=sum(1 for _ in lines), size_bytes=size_of(path))


class Heaptrack(Tracer):
    name = "heaptrack"
    about = "heaptrack, interpreted while the program runs"
    program = "heaptrack"
    options = ()

    def launch(self, command, folder):
        return Launch(["heaptrack", *self.options, "-o", str(folder / "heap"), *command])

    def recorded(self, folder, ended):
        match = re.search(r"^\s+allocations:\s+(\d+)", ended.output + ended.errors, re.MULTILINE)
        return Recorded(events=int(match[1]) if match else 0, size_bytes=size_of(folder))


class HeaptrackRaw(Heaptrack):
    name = "heaptrack-raw"
    about = "heaptrack --raw, to be interpreted afterwards"
    options = ("--raw",)

    def recorded(self, folder, ended):
        raw = next(folder.glob("heap.raw*"), None)
        if raw is None:
            return Recorded(events=0)
        unpack = {".zst": ["zstd", "-dc"], ".gz": ["gzip", "-dc"]}.get(raw.suffix, ["cat"])
        text = subprocess.run([*unpack, str(raw)], capture_output=True, check=True).stdout
        return Recorded(
            events=sum(1 for line in text.splitlines() if line[:1] in (b"+", b"-")), size_bytes=size_of(raw)
        )


class Uftrace(Tracer):
    name = "uftrace"
    about = "uftrace record --force: library calls through the PLT, without arguments"
    program = "uftrace"

    def launch(self, command, folder):
        return Launch(["uftrace", "record", "--force", "-d", str(folder / "calls"), *command])

    def recorded(self, folder, ended):
        size = sum(size_of(path) for path in (folder / "calls").glob("*.dat"))
        return Recorded(events=size // UFTRACE_CALL_BYTES, size_bytes=size)


class Bpftrace(Tracer):
    """The same count as mlrun's without its library, by the same events; in a mount namespace, for tracefs may not be mounted."""

    name = "bpftrace"
    about = "bpftrace: pread calls of the command and their time, by its tracepoints of system calls"
    program = "bpftrace"
    SCRIPT = """
      tracepoint:syscalls:sys_enter_pread64 /pid == cpid/ { @begin[tid] = nsecs; }
      tracepoint:syscalls:sys_exit_pread64 /@begin[tid]/ {
        @calls = count(); @ns = sum(nsecs - @begin[tid]); delete(@begin[tid]); }"""
    MOUNTED = 'mount -t tracefs none /sys/kernel/tracing && exec "$@"'

    def missing(self):
        return super().missing() or (None if os.geteuid() == 0 else "bpftrace needs root")

    def launch(self, command, folder):
        run = ["bpftrace", "-o", str(folder / "counts"), "-e", self.SCRIPT, "-c", " ".join(command)]
        return Launch(["unshare", "--mount", "sh", "-c", self.MOUNTED, "sh", *run])

    def recorded(self, folder, ended):
        counts = folder / "counts"
        match = re.search(r"@calls: (\d+)", counts.read_text())
        return Recorded(events=int(match[1]) if match else 0, size_bytes=size_of(counts))


class LttngUst(Tracer):
    name = "lttng-ust"
    about = "lttng-ust's wrapper of the malloc family, by LD_PRELOAD"
    program = "lttng"

    def missing(self):
        # ld.so leaves out a preload that it cannot find, and nothing would be recorded.
        wrapper = find_library("lttng-ust-libc-wrapper")
        babeltrace = shutil.which("babeltrace2")
        return (
            super().missing()
            or (None if wrapper else "liblttng-ust-libc-wrapper.so is not installed")
            or (None if babeltrace else "babeltrace2 is not installed")
        )

    def launch(self, command, folder):
        return Launch([str(Path(__file__).with_name("lttng_session.sh")), str(folder), *command])

    def recorded(self, folder, ended):
        # What babeltrace2 cannot read back is missing, and the row says so.
        listed = subprocess.run(["babeltrace2", str(folder / "lttng")], capture_output=True, check=False).stdout
        return Recorded(events=listed.count(b"lttng_ust_libc:"), size_bytes=size_of(folder / "lttng"))


class Memray(Tracer):
    name = "memray"
    about = "memray run"
    needs_python = True

    def version(self):
        return "memray " + first_line([sys.executable, "-m", "memray", "--version"])

    def launch(self, command, folder):
        """`command` starts with a Python interpreter."""
        return Launch([command[0], "-m", "memray", "run", "--quiet", "-o", str(folder / "memory.bin"), *command[1:]])

    def recorded(self, folder, ended):
        import memray

        path = folder / "memory.bin"
        return Recorded(events=memray.FileReader(str(path)).metadata.total_allocations, size_bytes=size_of(path))


class DfTracer(Tracer):
    name = "dftracer"
    about = "DFTracer with metadata (file, offset, size), by LD_PRELOAD"
    shorter_loops = 4

    def missing(self):
        return None if self.library() else "its preload library is not in .venv (tests/setup/install.sh bench)"

    def version(self):
        from importlib.metadata import version

        return f"dftracer {version('dftracer')}"

    @staticmethod
    def library():
        packages = Path(sys.prefix, "lib").glob("python*/site-packages")
        return next((file for folder in packages for file in folder.glob("dftracer/lib*/libdftracer_preload.so")), None)

    def launch(self, command, folder):
        # taskset and the shell are not to be traced, so the preload is set by the last program before the command.
        return Launch(
            ["env", f"LD_PRELOAD={self.library()}", *command],
            {
                "DFTRACER_ENABLE": "1",
                "DFTRACER_INIT": "PRELOAD",
                "DFTRACER_LOG_FILE": str(folder / "dftracer"),
                "DFTRACER_DATA_DIR": "all",
                "DFTRACER_INC_METADATA": "1",
            },
        )

    def recorded(self, folder, ended):
        return Recorded(events=sum(map(count_events, folder.glob("dftracer*.pfw*"))), size_bytes=size_of(folder))


def count_events(path: Path):
    """Lines that hold an event; a file cut short by the end of its process counts as far as it goes."""
    reader = gzip.open if path.suffix == ".gz" else open
    events = 0
    try:
        with reader(path, "rb") as lines:
            for line in lines:
                events += b'"ph":"M"' not in line and line.startswith(b"{")
    except (EOFError, OSError):
        pass
    return events


def make_peers():
    return [Strace(), HeaptrackRaw(), Heaptrack(), Uftrace(), Bpftrace(), LttngUst(), Memray(), DfTracer()]
