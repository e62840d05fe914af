# SPDX-License-Identifier: Apache-2.0
"""A missing rank, a killed one, another run's trace, the same trace twice, an unfinished and a newer one, clocks without a common time or only with
NTP's bound: one clear line each; the others are merged. What cannot be done at all is one error, and nothing is left: so it is if one of several
remains."""

import shutil

from lib import case, nodes


def said(done):
    return [line.removeprefix("mlrun: ") for line in done.stderr.splitlines() if line.startswith("mlrun: ")]


class Merges:
    def __init__(self, this):
        self.this, self.number = this, 0

    def __call__(self, *traces, status=0, options=()):
        self.number += 1
        self.out = self.this.path(f"merged{self.number}")
        return said(nodes.merge(self.this, *traces, out=self.out, options=["--quiet", *options], status=status))

    def nodes(self):
        return [row["trace"].rsplit("/", 1)[-1] for row in nodes.merged(self.out)["nodes"]]


def ranked(this, rank, world, *command, **more):
    environment = this.environment | {"RANK": str(rank), "WORLD_SIZE": str(world), "TORCHELASTIC_RUN_ID": "one"}
    return this.trace(*command, env=environment, **more).folder


def on_another_machine(this, trace, name, change=None):
    copy = nodes.copy_of(trace, this.path(name))

    def edit(run):
        run["host"] |= {"boot_id": name, "name": name}
        run["session"] = name
        if change:
            change(run)
    nodes.edit_run(copy, edit)
    return copy


def check(this):
    this.mlrun = case.MLRUN
    merge = Merges(this)
    zero, one = ranked(this, 0, 3, "true"), ranked(this, 1, 3, "true")

    lines = merge(zero, one)
    this.equal("a missing rank", lines, ["1 of 3 ranks are in no trace: 2"])
    killed = ranked(this, 2, 3, "sh", "-c", "kill -9 $$", status=137)
    [line] = merge(zero, one, killed)
    this.true("a killed rank", line.startswith("rank 2 on ") and "was ended by signal 9 (Killed) after" in line, line)
    this.equal("is merged all the same", len(merge.nodes()), 3)

    other = on_another_machine(this, one, "other", lambda run: run["job"].update(id="two"))
    lines = merge(zero, other, killed)
    this.true("two runs", f"{other} is left out: it is of another run (TORCHELASTIC_RUN_ID=two; the other traces: TORCHELASTIC_RUN_ID=one)"
              in lines, lines)
    this.equal("the others are merged", merge.nodes(), [zero.name, killed.name])
    this.true("the same twice", f"{zero} is left out: it is the same trace as {zero}" in merge(zero, zero, one), "")
    again = on_another_machine(this, one, "again")
    this.true("a rank twice", f"{again} is left out: rank 1 is in {one} too, so they are of two runs" in merge(zero, one, again), "")

    half = nodes.copy_of(one, this.path("half"))
    (half / "run.json").rename(half / "session.json")
    this.true("unfinished", f"left out: {half} was not finished (mlrun recover {half})" in merge(zero, killed, half), "")
    newer = on_another_machine(this, one, "newer", lambda run: run.update(schema_version=99))
    lines = merge(zero, newer, killed)
    this.true("newer", any("newer" in line and "left out" in line for line in lines), lines)
    absent = this.path("absent")
    this.true("absent", f"left out: {absent} does not exist" in merge(zero, killed, absent), "")
    for traces, why in (((zero, absent), f"left out: {absent} does not exist"), ((half, zero), f"left out: {half} was not finished"),
                        ((zero, zero), f"{zero} is left out: it is the same trace")):
        lines = merge(*traces, status=125)
        this.true("one is left: only why", len(lines) == 2 and lines[0].startswith(why)
                  and lines[-1] == f"nothing to merge: of 2 traces only one is left, {zero}; mlrun report {zero} shows it", lines)
        this.true("no trace is made", not merge.out.exists(), merge.out)
    merge(zero)
    this.equal("one trace alone, as it was asked for", merge.nodes(), [zero.name])
    older = on_another_machine(this, one, "older", lambda run: run.update(mlrun_version="0.0.1"))
    shutil.rmtree(older / "tables" / "sample_machine")
    nodes.edit_run(older, lambda run: run["tables"].pop("sample_machine"))
    lines = merge(zero, older)
    this.true("versions", any("was recorded by mlrun 0.0.1" in line for line in lines), lines)
    this.equal("both are merged", len(merge.nodes()), 2)
    clocks(this, merge, zero, one, killed)
    errors(this, merge, zero, one)


def clocks(this, merge, zero, one, two):
    """No message, and what NTP says of the clocks."""
    def discipline(is_synchronised):
        def change(run):
            for when in ("start", "end"):
                run["clock"][when]["discipline"] = {"is_synchronised": is_synchronised, "max_error_ns": 2_000_000}
        return change
    here = on_another_machine(this, zero, "here", discipline(True))
    bounded, free = (on_another_machine(this, one, name, discipline(is_synchronised))
                     for name, is_synchronised in (("bounded", True), ("free", False)))
    lines = merge(here, bounded)
    this.true("NTP's bound", any("times of here and bounded can be compared only to NTP's bound of 4.0" in line for line in lines), lines)
    node = nodes.merged(merge.out)["nodes"][1]
    this.true("its error", 3_900_000 <= node["error_ns"] <= 4_100_000, node)
    lines = merge(here, free)
    this.true("no bound", any(line.startswith("times of here and free cannot be compared: no message between them was matched")
                              for line in lines), lines)
    this.equal("unknown error", nodes.merged(merge.out)["nodes"][1]["error_ns"], None)

    def without_utc(run):
        run["clock"] = {}
    imported = on_another_machine(this, one, "imported", without_utc)
    beside = on_another_machine(this, two, "beside", discipline(True))
    lines = merge(here, imported, beside)
    this.true("no common moment", any("nothing relates its clock to that of here; give --offset TIME or --marks NAME" in line for line in lines), lines)
    this.equal("the rest is merged", merge.nodes(), ["here", "beside"])
    lines = merge(here, imported, status=125)
    this.true("and no rest", "nothing relates its clock" in lines[-2] and "of 2 traces only one is left" in lines[-1] and not merge.out.exists(), lines)
    merge(here, imported, options=["--offset", "-1500ms"])
    node = nodes.merged(merge.out)["nodes"][1]
    this.equal("given", (node["aligned_by"], node["offset_ns"]), ("given", 1_500_000_000))
    first, moved = (min(row["first"] for row in this.opened(trace).rows("process") if row.get("node_id", 2) == 2)
                    for trace in (imported, merge.out))
    this.equal("its rows are moved by it", moved - first, -1_500_000_000)


def errors(this, merge, zero, one):
    for traces, options, word in (([this.path("absent")], (), "nothing to merge"), ([zero, one], ("--offset", "x"), "--offset"),
                                  ([zero], ("--offset", "1s"), "two traces"), ([merge.out], (), "is merged already")):
        lines = merge(*traces, options=options, status=125)
        this.true(f"one line about {word}", len(lines) == 1 and word in lines[0], lines)
        this.true("nothing is left", not merge.out.exists() or traces == [merge.out], merge.out)
    done = this.run(case.MLRUN, "merge", zero, one, "-o", zero)
    this.true("nothing is overwritten", done.returncode == 125 and "never overwrites" in done.stderr, done.stderr)


if __name__ == "__main__":
    case.run(check)
