# SPDX-License-Identifier: Apache-2.0
"""Under a seccomp filter that allows read, write, pread64, close and exit_group and kills for all else, recording
continues; the filter is set by prctl, or by syscall() with the number of prctl or of seccomp."""

from lib import case, serials

CALLS = 100000  # several segments: changing them needs no system call


def check(this):
    data = this.data_file()
    for way in ("name", "number", "wide"):
        trace = this.untraced_and_traced(this.victim("seccomp_filter"), data, CALLS, way)
        serials.expect_threads(this, trace.serials(data), [CALLS])


if __name__ == "__main__":
    case.run(check)
