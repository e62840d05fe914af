# SPDX-License-Identifier: Apache-2.0
"""perf script without names of events, with call chains and without; strace that has seen signals alone, frames of stacks, calls that never return; texts in UTF-16; a
document whose traceEvents are no array; a file that is named twice."""

from lib import case
from lib.imported import imported, run

# -F comm,tid,time,ip,sym with a call chain (-g) and without
CHAINS = "python  5962 83277.734877: \n\tffffffff821fb643 schedule+0x23 ([kernel.kallsyms])\n\t  4d3618 main ([unknown])\n\npython  5962 83277.735254: \n\t  401136 f (/bin/app)\n\n"
SAMPLES = "python  5962 83277.734877:  ffffffff821fb643 schedule\npython  5962 83277.735254:            401136 main\n  python  5963 83277.737273:            4d3618 operator new(unsigned long)\n"
# -F tid,time,period,ip,sym
PERIODS = "  5962 83277.734877654:          1 \n\tffffffff821fb643 schedule+0x23\n\n  5963 83277.735254000:       1000   4d3618 main\n"
SIGNALS = "7 1700000001.000001 --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=7, si_uid=0} ---\n7 1700000001.000002 +++ killed by SIGUSR1 +++\n"
STACKS = ("7 1700000001.000001 close(3) = 0 <0.000001>\n > /usr/lib/libc.so.6(close+0x10) [0xf9f30]\n > unexpected_backtracing_error [0x3000]\n"
          "7 1700000001.000002 exit_group(0) = ?\n7 1700000001.000003 +++ exited with 0 +++\n")
EVENT = '{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a"}'


def file_of(this, name, text):
    path = this.path(name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def frames_of(trace):
    """The functions of each sample, innermost first."""
    tables = trace.folder / "tables"
    return trace.rows("stack_sample", "ts, list(function ORDER BY depth)",
                      f"LEFT JOIN '{tables}/stack/*.parquet' USING (stack_id) LEFT JOIN '{tables}/frame/*.parquet' USING (frame_id) GROUP BY ts ORDER BY ts")


def check_perf(this):
    for name, text, wanted in (
        ("chains", CHAINS, [(83_277_734_877_000, ["schedule", "main"]), (83_277_735_254_000, ["f"])]),
        ("samples", SAMPLES, [(83_277_734_877_000, ["schedule"]), (83_277_735_254_000, ["main"]), (83_277_737_273_000, ["operator new(unsigned long)"])]),
        ("periods", PERIODS, [(83_277_734_877_654, ["schedule"]), (83_277_735_254_000, ["main"])]),
    ):
        trace = imported(this, file_of(this, f"{name}.txt", text))
        this.equal(f"left out of {name}", trace.left_out(), {})
        this.equal(f"stacks of {name}", frames_of(trace), wanted)
    this.equal("periods", trace.rows("stack_sample", "period", "ORDER BY ts"), [(1,), (1000,)])


def check_strace(this):
    trace = imported(this, file_of(this, "signals.strace", SIGNALS))
    this.equal("marks", trace.rows("mark", "domain", "ORDER BY ts"), [("signal",), ("exit",)])
    trace = imported(this, file_of(this, "stacks.strace", STACKS))
    this.equal("left out", trace.left_out(), {"a frame of a stack (strace -k)": 2})
    this.equal("remarks", trace.files[0]["remarks"], {"no duration, since it never returned": 1})


def check_refused(this):
    twice = file_of(this, "twice.json", f"[{EVENT}]")
    for name, files, word in (
        ("little.json", [f"[{EVENT}]".encode("utf-16")], "UTF-16"),
        ("big.json", [b"\xfe\xff" + f"[{EVENT}]".encode("utf-16-be")], "UTF-16"),
        ("text.json", ['{"traceEvents": "none"}'], "without traceEvents"),
        ("object.json", ['{"traceEvents": {"a": 1}}'], "without traceEvents"),
        ("twice", [twice, twice.parent / "." / "twice.json"], "named twice"),
    ):
        paths = files if name == "twice" else [file_of(this, name, files[0])]
        done, folder = run(this, *paths)
        this.equal(f"{name}: status, lines, folder", (done.returncode, len(done.stderr.splitlines()), folder.exists()), (125, 1, False))
        this.true(f"{name} is named, and why", name.split(".", maxsplit=1)[0] in done.stderr and word in done.stderr, done.stderr)
    this.equal("traceEvents that are null", imported(this, file_of(this, "null.json", '{"traceEvents": null}')).events(), 0)


def check(this):
    check_perf(this)
    check_strace(this)
    check_refused(this)


if __name__ == "__main__":
    case.run(check)
