# SPDX-License-Identifier: Apache-2.0
"""With jemalloc, tcmalloc or mimalloc as the program's allocator, large blocks come from mlrun's heap and the others from that allocator:
contents, alignment and ends are right, with the recorder and without."""

from lib import allocators, case


def check(this):
    for name, program in allocators.victims(this, "shared"):
        this.environment["LD_PRELOAD"] = allocators.library_of(this, name, program)
        for options in (("--preload=off",), ()):
            out = this.new_trace()
            done = this.run(*this.command(this.victim("places_storm"), 400, 3, "fork", out=out, options=(*options, "--place", "size >= 64K -> default")))
            this.equal(f"{name}: it says", (done.stdout, done.returncode), ("bad=0 misaligned=0\n", 0), said=done.stderr)
            processes = this.opened(out).run["placement"]["processes"]
            this.true(f"{name}: blocks were placed", all(process["rules"][0]["matches"] > 50 for process in processes), processes)


if __name__ == "__main__":
    case.run(check)
