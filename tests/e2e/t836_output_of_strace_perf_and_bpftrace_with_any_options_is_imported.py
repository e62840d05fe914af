# SPDX-License-Identifier: Apache-2.0
"""What strace, perf script and bpftrace print with options that change the lines: relative times, whole seconds, numbers and pointers in brackets, names of
processes, one file a thread, threads whose first call comes before their clone returns; samples without a process, lines of source; names with blanks."""

import gzip
import json
import os
import subprocess
import sys

from lib import case
from lib.imported import imported

THREADS = """1000 1700000001.000001 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD) = 1001 <0.000010>
1000 1700000001.000100 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} <unfinished ...>
1002 1700000001.000150 read(3</a(b>, "x", 1) = 1 <0.000001>
1000 1700000001.000200 <... clone3 resumed> => {parent_tid=[1002]}, 88) = 1002 <0.000100>
1001 1700000001.000300 nanosleep({tv_sec=1}, NULL) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.000010>
1001 1700000001.000350 poll([{fd=3, events=POLLIN}], 1, 10) = 0 (Timeout) <0.010000>
1000 1700000001.000400 vfork(strace: Process 1003 attached
 <unfinished ...>
1003 1700000001.000450 execve("/bin/true", ["true", "a b"], 0x7f /* 3 vars) */) = 0 <0.000100>
1000 1700000001.000600 <... vfork resumed>) = 1003 <0.000200>
1000 1700000001.000700 readlink("/proc/self", "1000", 100) = 4 <0.000001>
"""


def lines_of(this, name, text):
    path = this.path(name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def calls(trace, columns="func, ts, dur, ret"):
    return trace.rows("call", columns, "ORDER BY ts")


def paths_of(trace):
    return trace.rows("call", "func, path", f"LEFT JOIN '{trace.folder}/tables/file/*.parquet' USING (file_id) ORDER BY ts")


def check_threads(this):
    trace = imported(this, lines_of(this, "threads.strace", THREADS))
    this.equal("left out", trace.left_out(), {})
    this.equal("lines", trace.events(), len(THREADS.splitlines()))
    this.equal("processes", trace.rows("process", "pid, ppid, command", "ORDER BY pid"), [(1000, None, None), (1003, 1000, "true a b")])
    this.equal("threads", trace.rows("thread", "tid, proc_id", "ORDER BY tid"), [(1000, 1), (1001, 1), (1002, 1), (1003, 2)])
    this.true("a name with a bracket", ("read", "/a(b") in paths_of(trace), paths_of(trace))
    this.true("a link is a path", ("readlink", "/proc/self") in paths_of(trace), paths_of(trace))
    interrupted = [json.loads(args)["err"] for args, in trace.rows("slice", "args", "WHERE name = 'nanosleep'")] + [
        err for err, in trace.rows("call", "err", "WHERE func = 'nanosleep'")]
    this.equal("an interrupted call", interrupted, [4])
    results = [args for table in ("slice", "import_event") for args, in trace.rows(table, "args", "WHERE name = 'poll'")]
    this.true("the comment of a result", any(json.loads(args).get("result") == "(Timeout)" for args in results), results)


def check_options(this):
    relative = "     0.000000 read(3, \"a\", 1) = 1\n     0.000250 read(3, \"b\", 1) = 1\n     0.000100 close(3) = 0\n"
    trace = imported(this, lines_of(this, "r.strace", relative))
    this.equal("-r adds up", calls(trace, "func, ts"), [("read", 0), ("read", 250_000), ("close", 350_000)])
    this.equal("the clock of -r", trace.files[0]["clock"], "unknown")
    both = "12:00:00.000001 (+     0.000000) read(3, \"a\", 1) = 1\n12:00:00.000011 (+     0.000010) close(3) = 0\n"
    this.equal("-tt -r", len(calls(imported(this, lines_of(this, "tr.strace", both)))), 2)
    seconds = "1700000052 openat(AT_FDCWD</root>, \"/x\", O_RDONLY) = 3</x y>(deleted)\n1700000053 [00007f1e8e4ed0b4] [  0] read(3</x y>(deleted), \"\", 1) = 0\n"
    trace = imported(this, lines_of(this, "seconds.strace", seconds))
    this.equal("whole seconds, -i and -n", calls(trace, "func, ts, ret"), [("openat", 1700000052 * 10**9, 3), ("read", 1700000053 * 10**9, 0)])
    this.equal("paths", paths_of(trace), [("openat", "/x"), ("read", "/x y")])
    named = "1234<my prog> 12:00:00 read(3, \"a\", 1) = 1\n[pid 1235<b>] 12:00:00 read(3, \"a\", 1) = 1\n"
    trace = imported(this, lines_of(this, "named.strace", named))
    this.equal("-Y", trace.rows("process", "pid", "ORDER BY ALL"), [(1234,), (1235,)])
    octal = "openat(AT_FDCWD, \"\\x2f\\x74\\x6d\\x70\", O_RDONLY) = 3 <0.1>\n[pid 7] close(3) = 0 <0.1>\n[pid 8] close(4) = 0 <0.1>\nclose(5) = 0 <0.1>\n"
    trace = imported(this, lines_of(this, "xx.strace", octal))
    this.equal("-xx", paths_of(trace)[0], ("openat", "/tmp"))
    this.equal("one process before it had a number, and another", trace.count("process"), 2)
    for number, call in (("41", "clone(flags=CLONE_THREAD) = 42"), ("42", "read(3, \"\", 1) = 0")):
        this.path("log." + number).write_text(f"1700000001.5 {call} <0.1>\n", encoding="ascii")
    trace = imported(this, this.path("log.41"), this.path("log.42"))
    this.equal("-ff", trace.rows("thread", "tid, proc_id", "ORDER BY tid"), [(41, 1), (42, 1)])
    again = "7 1.5 read(3, <unfinished ...>\n7 1.6 read(4, <unfinished ...>\n7 1.7 <... read resumed>\"\", 1) = 0\n"
    this.equal("a call that was never resumed", imported(this, lines_of(this, "again.strace", again)).left_out(), {"a call that was not resumed": 1})
    cut = lines_of(this, "cut.strace.gz", gzip.compress(THREADS.encode() * 50)[:-40])
    remarks = imported(this, cut).files[0]["remarks"]
    this.true("a packed log that is cut", any("the file is cut off" in remark for remark in remarks), remarks)


def check_real_threads(this):
    """All threads of a real program are of one process, however their lines are mixed."""
    case.need_program("strace")
    path = this.path("real.strace")
    program = "import threading\nfor _ in range(20):\n    threading.Thread(target=open, args=('/dev/null',)).start()"
    subprocess.run(["strace", "-f", "-ttt", "-o", path, os.path.realpath(sys.executable), "-S", "-c", program], check=True)
    threads = {line.split()[0] for line in path.read_text(encoding="utf-8", errors="replace").splitlines()}
    trace = imported(this, path)
    this.equal("processes", trace.count("process"), 1)
    this.equal("threads", trace.count("thread"), len(threads))
    this.true("its command", "-S -c" in trace.rows("process", "command")[0][0])


def check_perf(this):
    text = """# a comment
python  77/78  [003] 12.000001:   1000 cycles:u:
\t    55d0 main+0x12 (/bin/app)
  main.c:12
\t    7f10 start (inlined)

:-1    -1 [000] 12.000003: cycles:

12.000004: cycles:
\tffffffff81 do_syscall ([kernel.kallsyms])

"""
    trace = imported(this, lines_of(this, "some.perf", text))
    this.equal("left out", trace.left_out(), {})
    this.equal("samples", trace.rows("stack_sample", "ts, cpu, period, event", "ORDER BY ts"),
               [(12_000_001_000, 3, 1000, "cycles:u"), (12_000_003_000, 0, None, "cycles"), (12_000_004_000, None, None, "cycles")])
    frames = trace.rows("frame", "function, source, line", "ORDER BY function")
    this.true("lines of source", ("main", "main.c", 12) in frames, frames)
    this.true("an inlined function", any(function == "start" for function, *_ in frames), frames)


def check_bpftrace(this):
    text = """Attaching 2 probes...
TIMESTAMP PID COMM OFFSET SIZE LAT(ns) FILENAME
5000000 77 my prog 0 4096 1500 a b.npy
6000000 77 plain 4096 10 200 c.npy
Lost 12 events
7000000 77 empty 1 2 3
"""
    trace = imported(this, lines_of(this, "read.out", text))
    rows = trace.rows("call", "\"offset\", ret, path", f"LEFT JOIN '{trace.folder}/tables/file/*.parquet' USING (file_id) ORDER BY ts")
    this.equal("names with blanks", rows, [(0, 4096, "a b.npy"), (4096, 10, "c.npy"), (1, 2, None)])
    this.equal("what bpftrace has lost", trace.left_out(), {"lost by bpftrace itself": 12})


def check_late_log(this):
    """A log whose first line of MLPerf comes late."""
    line = ':::MLLOG {"time_ms" : 1652204056419, "event_type": "POINT_IN_TIME", "key": "a", "value": 1}\n'
    trace = imported(this, lines_of(this, "late.log", "installing\n" * 20_000 + line))
    this.equal("marks", trace.count("mark"), 1)
    this.equal("left out", trace.left_out(), {})
    seen = '7 1700000001.5 write(1, ":::MLLOG {\\"key\\": 1}", 20) = 20 <0.1>\n'
    this.equal("strace of a program that logs", imported(this, lines_of(this, "logging.strace", seen)).count("call"), 1)


def check(this):
    check_threads(this)
    check_options(this)
    check_perf(this)
    check_bpftrace(this)
    check_late_log(this)
    check_real_threads(this)


if __name__ == "__main__":
    case.run(check)
