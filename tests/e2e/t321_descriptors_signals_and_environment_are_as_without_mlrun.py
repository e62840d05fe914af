# SPDX-License-Identifier: Apache-2.0
"""Descriptors, signal mask, ignored signals, threads, working directory and environment are as without mlrun."""

from lib import case


def check(this):
    this.untraced_and_traced(this.victim("descriptors"))
    quiet = ("/bin/sh", "-c", "trap '' HUP USR1; exec \"$@\"", "sh")
    this.untraced_and_traced(*quiet, this.victim("descriptors"))


if __name__ == "__main__":
    case.run(check)
