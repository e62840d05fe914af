# SPDX-License-Identifier: Apache-2.0
"""A user's own LD_PRELOAD library keeps working beside mlrun's, and both see the program's calls."""

from lib import case


def check(this):
    data = this.data_file()
    more = {"env": this.environment | {"LD_PRELOAD": this.victim("beside.so")}}
    plain = this.run(this.victim("asks_beside"), data, **more)
    this.equal("output untraced", plain.stdout, "1 1\n")
    trace = this.trace(this.victim("asks_beside"), data, **more)
    this.equal("output", trace.stdout, plain.stdout)
    this.equal("opens of the file", len(trace.calls_of("open", path=data)), 1)
    this.equal("reads of it", len(trace.calls_of("pread", path=data)), 1)


if __name__ == "__main__":
    case.run(check)
