# SPDX-License-Identifier: Apache-2.0
"""With Darshan's runtime library, the program's result is as untraced, Darshan writes its log as without mlrun, and the
trace has every call. MLRUN_DARSHAN names libdarshan.so (no package has it: configure --without-mpi
--with-log-path-by-env=DARSHAN_LOGPATH --with-jobid-env=NONE)."""

import os

from lib import case

CALLS = 500


def check(this):
    library, data, logs = os.environ.get("MLRUN_DARSHAN"), this.data_file(), this.path("logs")
    if not library:
        raise case.Skip("needs MLRUN_DARSHAN, the path of libdarshan.so")
    logs.mkdir()
    more = {"env": this.environment | {"LD_PRELOAD": library, "DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGPATH": str(logs)}}
    command = (this.victim("numbered"), data, CALLS, "exit")
    plain = this.run(*command, **more)
    this.equal("result beside Darshan alone", (plain.returncode, plain.stdout), (7, ""), said=plain.stderr)
    alone = {path.name.split("_")[1]: path.stat().st_size for path in logs.glob("*.darshan")}
    this.equal("logs beside Darshan alone", len(alone), 1)
    for path in logs.iterdir():
        path.unlink()
    trace = this.trace(*command, status=7, **more)
    this.equal("output", (trace.stdout, trace.stderr), (plain.stdout, plain.stderr))
    this.equal("our calls", len(trace.calls_of("pread", path=data)), CALLS)
    beside = {path.name.split("_")[1]: path.stat().st_size for path in logs.glob("*numbered*.darshan")}
    this.equal("Darshan's logs of the program", set(beside), set(alone))
    # Compressed, so that a time or a path more or less changes a few bytes.
    sizes = (*beside.values(), *alone.values())
    this.true("with as much in it", abs(sizes[0] - sizes[1]) < 0.3 * sizes[1], sizes)


if __name__ == "__main__":
    case.run(check)
