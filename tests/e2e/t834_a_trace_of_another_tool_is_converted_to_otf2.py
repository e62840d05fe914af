# SPDX-License-Identifier: Apache-2.0
"""mlrun convert writes what import reads as an OTF2 archive: nested in order also at equal times, to the nanosecond, one location a thread.
It removes nothing but an older archive, and only with -c."""

import json

from lib import case
from lib.otf2_check import read_archive


def slice_of(name, ts, dur, tid=1):
    return {"ph": "X", "name": name, "cat": "c", "ts": ts, "dur": dur, "pid": 7, "tid": tid}


# Parent and child of one interval; one after the other, not in order; less than a microsecond; another thread.
EVENTS = [slice_of("parent", 10.123, 0.9), slice_of("child", 10.123, 0.9), slice_of("second", 12, 1), slice_of("first", 11.5, 0.5),
          slice_of("of another", 10, 5, tid=2), {"ph": "C", "name": "bytes", "ts": 11, "pid": 7, "args": {"used": 5}}]


def convert(this, *arguments):
    return this.run(case.MLRUN, "convert", *arguments)


def check(this):
    folder, out = this.path("profile"), this.path("archive")
    folder.mkdir()
    source = folder / "one.trace.json"
    source.write_text(json.dumps(EVENTS), encoding="ascii")
    done = convert(this, source, "-o", out)
    this.equal("status", done.returncode, 0, said=done.stderr)
    archive = read_archive(out)
    this.equal("what is wrong with the archive", archive.wrong, [])
    this.equal("slices", archive.rows["slice"], 5)
    this.equal("counters", archive.metrics["counter"], 1)
    times = {region.name: time for _, time, region, _ in archive.entered}
    this.equal("nanoseconds between begins", [times[name] - times["of another"] for name in ("parent", "child", "first", "second")],
               [123, 123, 1500, 2000])
    this.equal("threads", len({location for location, _, region, _ in archive.entered if region.description == "slice"}), 2)

    again = convert(this, "-i", folder, "-o", out)
    this.equal("an archive that is there is kept", (again.returncode, len(again.stderr.splitlines())), (125, 1), said=again.stderr)
    done = convert(this, "-c", "-i", folder, "-o", out)
    this.equal("--clean", (done.returncode, read_archive(out).rows["slice"]), (0, 5), said=done.stderr)
    (out / "mine.txt").write_text("keep", encoding="ascii")
    refused = convert(this, "-c", source, "-o", out)
    this.true("a folder with other files stays", refused.returncode == 125 and "mine.txt" in refused.stderr, refused)
    this.equal("all of it", ((out / "mine.txt").read_text(encoding="ascii"), (out / "traces.otf2").exists()), ("keep", True))
    bad = this.path("bad.json")
    bad.write_text("hello", encoding="ascii")
    refused = convert(this, bad, "-o", this.path("none"))
    this.equal("what is no trace", (refused.returncode, len(refused.stderr.splitlines())), (125, 1), said=refused.stderr)
    this.equal("nothing is left", [path.name for path in this.folder.iterdir() if path.name.startswith("none")], [])


if __name__ == "__main__":
    case.run(check)
