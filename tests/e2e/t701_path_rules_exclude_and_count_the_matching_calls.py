# SPDX-License-Identifier: Apache-2.0
"""--include and --exclude: the trace with path rules equals the trace without them minus the calls on files that a
second implementation of the patterns leaves out; those are counted, calls and bytes."""

import os
import re
import shutil
from collections import Counter

from lib import case

FOLLOWED = ("fork", "execve", "posix_spawn")
MOVES = ("read", "write", "fread", "fgets", "fputs", "fwrite", "fflush")


def regex(pattern):
    """The regular expression of a pattern; a folder matches all that is in it."""
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^]]+\]|.", pattern)
    means = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = [means.get(token, token.replace("[!", "[^") if token[0] == "[" and len(token) > 1 else re.escape(token))
             for token in tokens]
    return re.compile("".join(parts) + "(?:/.*)?", re.DOTALL)


def chooser(include, exclude):
    def matches(patterns, path):
        return any(regex(pattern if "/" in pattern else "**/" + pattern).fullmatch(path) for pattern in patterns)
    return lambda path: not matches(exclude, path) and (not include or matches(include, path))


def is_listed(call, wanted):
    if call.func in FOLLOWED or not call.path:
        return True
    return wanted(call.path) or bool(call.path2) and wanted(call.path2)


def rows_of(calls):
    return Counter((call.func, call.path, call.path2, call.err, call.ret if call.func in MOVES else 0)
                   for call in calls)


def make_folder(folder):
    shutil.rmtree(folder, ignore_errors=True)
    for name, size in (("keep/a.dat", 10000), ("keep/sub/b.dat", 5000), ("drop/c.dat", 20000)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"line of the file\n" * (size // 17))


def moved(calls, funcs):
    return sum(max(call.ret, 0) for call in calls if call.func in funcs)


def check(this):
    folder = this.path("folder")
    make_folder(folder)
    everything = this.trace(this.victim("path_rules"), folder).calls
    this.true("the victim makes many calls on both sides",
              sum("/keep" in call.path for call in everything) > 15 and
              sum("/drop" in call.path for call in everything) > 25)
    link = this.path("link")
    os.symlink(folder, link)
    for include, exclude in (((), (f"{folder}/drop",)), ((f"{folder}/keep/**",), ()), ((), ("c.*",)),
                             (("*.dat",), ("sub",)), ((f"{folder}/*/[!c].da?",), ()), (("**/folder/keep",), ("b.dat",)),
                             ((), ("pipe:*", f"{folder}/**/b.dat")), (("/nowhere",), ())):
        options = [word for pattern in include for word in ("--include", pattern)]
        options += [word for pattern in exclude for word in ("--exclude", pattern)]
        make_folder(folder)
        trace = this.trace(this.victim("path_rules"), folder, options=options)
        wanted = chooser(include, exclude)
        listed = [call for call in everything if is_listed(call, wanted)]
        others = [call for call in everything if not is_listed(call, wanted)]
        # Numbers of pipes are new in each run.
        nameless = [rows_of([call for call in calls if "pipe:" not in call.path]) for calls in (trace.calls, listed)]
        this.equal(f"rows with {options}: missing", nameless[1] - nameless[0], Counter())
        this.equal(f"rows with {options}: too many", nameless[0] - nameless[1], Counter())
        this.equal(f"rows with {options}", len(trace.calls), len(listed))
        left_out = trace.rows("left_out")
        this.equal(f"calls counted with {options}", sum(row["calls"] for row in left_out), len(others))
        this.equal("bytes read", sum(row["bytes_read"] for row in left_out), moved(others, ("read", "fread", "fgets")))
        this.equal("bytes written", sum(row["bytes_written"] for row in left_out),
                   moved(others, ("write", "fputs", "fwrite", "fflush")))
        this.equal("losses", trace.rows("loss") + trace.rows("coverage"), [])
        this.equal("the rules in the result", (trace.run["options"]["include"], trace.run["options"]["exclude"]),
                   (list(include), list(exclude)))
    make_folder(folder)
    by_link = this.trace(this.victim("path_rules"), link, options=["--include", f"{link}/keep"])
    this.equal("calls on files by a rule through a link", {call.path.split("/keep")[0] for call in by_link.calls
                                                         if call.func in ("read", "open") and "pipe:" not in call.path},
               {str(folder)})
    relative = this.trace(this.victim("path_rules"), folder, options=["--exclude", "folder/drop"])
    this.true("a rule relative to the working directory", not relative.calls_of("read", path=folder / "drop/c.dat")
              and relative.calls_of("read", path=folder / "keep/a.dat"))
    expect_told(this, folder)


def expect_told(this, folder):
    """The summary names the rule and how much it left out; an invalid rule is refused before anything runs."""
    make_folder(folder)
    out = this.new_trace()
    shown = this.run(case.MLRUN, "--preload", "-o", out, "--exclude", "drop", this.victim("path_rules"), folder)
    line = next((line for line in shown.stderr.splitlines() if line.startswith("LEFT OUT")), "")
    this.true("the line of the summary", "--exclude drop" in line and "calls on other files counted" in line,
              shown.stderr)
    for options, said in ((["--exclude", "[ab"], "the bracket is not closed"), (["--include", ""], "is empty"),
                          (["--preload=allocs", "--include", "x"], "records no file calls")):
        refused = this.run(case.MLRUN, "-o", this.path("none"), *options, "true")
        this.equal(f"exit status with {options}", refused.returncode != 0, True)
        this.true("one clear line", said in refused.stderr and refused.stderr.count("\n") == 1, refused.stderr)
        this.true("nothing is left", not this.path("none").exists())


if __name__ == "__main__":
    case.run(check)
