# SPDX-License-Identifier: Apache-2.0
"""Victims that use hooked functions once each with known arguments: the rows of `call` must be exactly these, for the
plain program, for the one built with run-time checks and large-file symbols, and with strace."""

from lib.truth import Truth

BUILDS = ("", "_checked")


def expect_rows(case, victim, argument, wanted, columns, keep=lambda call: True, between=lambda: None):
    """`columns`: what to show of a Call; `keep`: which of them; `between`: puts the file system back after each run."""
    for build in BUILDS:
        between()
        trace = case.trace(case.victim(victim + build), argument)
        rows = [columns(call) for call in trace.calls if keep(call)]
        for at, (got, want) in enumerate(zip(rows, wanted, strict=False)):
            case.equal(f"row {at} of {victim}{build}", got, want)
        case.equal(f"rows of {victim}{build}", rows, wanted)


def expect_strace_agrees(case, victim, argument, between=lambda: None):
    for build in BUILDS:
        between()
        truth = Truth(case, case.victim(victim + build), argument)
        truth.report()
        truth.expect_nothing_unsorted()
        truth.expect_same_paths()
        truth.expect_same_bytes()
