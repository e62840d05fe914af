# SPDX-License-Identifier: Apache-2.0
"""A wrong word of --access is one error and nothing runs; a rung that this machine lacks is named with its reason and the command runs; with
=require it does not. doctor has each rung with its cost or its reason."""

from lib import case

WRONG = {
    ("--access=fast",): "'fast' is none of precise, hint-faults",
    ("--access=cold,,damon",): "a value is missing beside a comma",
    ("--access=clear-refs,cold",): "clear the same bits",
    ("--access=10,20",): "two numbers of samples a second",
    ("--access=0",): "the samples a second must be from",
    ("--access-read-event=1cd",): "--access-read-event is about --access=precise: add it",
    ("--access=cold", "--access-read-event=1cd"): "add precise",
    ("--access=precise", "--access-write-event=xyz"): "give a hexadecimal number",
    ("--access", "--summary-only"): "--summary-only lists no events",
}
RUNGS = ("precise", "hint-faults", "cold", "clear-refs", "damon", "soft-dirty", "faults")


def check(this):
    for options, said in WRONG.items():
        done = this.run(case.MLRUN, "run", "-o", this.path("none"), *options, "--", "/bin/echo", "ran")
        this.equal(f"exit status of {options}", (done.returncode, done.stdout), (125, ""), said=done.stderr)
        this.true(f"{options}: one line that says why", said in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    trace = this.trace("/bin/echo", "ran", options=("--access=faults,faults,require",))
    this.equal("named twice is once", (trace.stdout, "--access" in trace.stderr), ("ran\n", False), said=trace.stderr)
    doctor = this.run(case.MLRUN, "doctor").stdout
    doctor = " ".join(doctor[doctor.index("accesses"):].split())
    for rung in RUNGS:
        this.true(f"doctor has {rung}", f"{rung}: " in doctor, doctor)
    this.equal("doctor has a cost for each that works here", doctor.count("costs: "), doctor.count("blind to: "), said=doctor)
    this.true("and it is measured", "costs: each 4 KiB page takes " in doctor or "costs: a page fault takes " in doctor or "costs: " not in doctor, doctor)
    done = this.run(case.MLRUN, "run", "-o", this.path("required"), "--access=precise,require", "--access-read-event=ffff", "--", "/bin/echo", "ran")
    if done.returncode == 0:
        raise case.Skip("this machine has precise events")
    this.equal("required and absent", (done.returncode, done.stdout, this.path("required").exists()), (125, "", False), said=done.stderr)
    trace = this.trace("/bin/echo", "ran", options=("--access=precise", "--access-read-event=ffff"))
    this.true("named and absent: said", "accesses to memory are not seen: precise: " in trace.stderr, trace.stderr)
    this.equal("and it ran", (trace.stdout, trace.rows("access")), ("ran\n", []))
    beside = this.trace("/bin/echo", "ran", options=("--access", "--access-read-event=ffff"))
    this.true("a number of an event that is not counted: said", "precise: " in beside.stderr, beside.stderr)
    this.true("and the trace says why", trace.run["access"]["problem"].startswith("precise: "), trace.run["access"])


if __name__ == "__main__":
    case.run(check)
