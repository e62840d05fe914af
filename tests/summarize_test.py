# SPDX-License-Identifier: Apache-2.0
"""Reasons of skipped tests, as each kind of test prints them, and which of them may be."""

import contextlib
import io
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import summarize  # pylint: disable=wrong-import-position


def reason(output):
    case = xml.Element("testcase")
    xml.SubElement(case, "system-out").text = output
    return summarize.reason_of(case)


class Reasons(unittest.TestCase):
    def test_of_a_script(self):
        self.assertEqual(reason("begun\nskipped: needs root\nmore\n"), "needs root")
        self.assertEqual(reason("wheel: skipped: debootstrap is missing\n"), "debootstrap is missing")

    def test_of_googletest(self):
        self.assertEqual(reason("[ RUN      ] A.B\n../tests/a_test.cpp:112: Skipped\nneeds root\n[  SKIPPED ] A.B (2 ms)\n"), "needs root")
        self.assertEqual(reason("../tests/a_test.cpp:112: Skipped\n\n[  SKIPPED ] A.B (2 ms)\n"), "")

    def test_of_a_guest_that_cannot_start(self):
        self.assertEqual(reason("begun\nthe kernel 6.1 cannot be had: cpio is missing\n"), "the kernel 6.1 cannot be had: cpio is missing")


class Allowed(unittest.TestCase):
    RIGHTS = "mlrun-probes needs root or file capabilities: `mlrun doctor --fix` shows the command"
    SANDBOX = "the kernel refused the BPF programs: Operation not permitted (libbpf: Error in bpf_object__probe_loading())"

    def test_only_true_reasons(self):
        for name, why in (("e2e.t905_a", self.RIGHTS), ("gpu.g502_a", self.SANDBOX), ("vm.split_on_6.1", "QEMU cannot be had: install qemu-system-x86"),
                          ("e2e.t748_a", "this kernel makes no huge pages"), ("e2e.t770_a", "this kernel makes no huge pages"),
                          ("python_package.Inspector", "['python', '-m', 'pip', 'install'] failed: ERROR: No matching distribution found"),
                          ("preload_limits.Restriction.DoesNotStopRecording/nobody  # GetParam() = \"nobody\"", "needs root")):
            self.assertTrue(summarize.is_allowed(name, why), name)

    def test_nothing_else(self):
        for name, why in (("e2e.t905_a", ""), ("e2e.t905_a", "by tracepoint: processes"), ("gpu.g502_a", "needs time"), ("e2e.t101_a", self.RIGHTS),
                          ("gpu.g502_a", "the kernel refused the BPF programs: Invalid argument (libbpf: prog 'on_wait': bad map)"),
                          ("vm.split_on_6.1", "the guest said nothing"), ("preload_exec.Target.OfAnotherSessionIsNested", "needs root")):
            self.assertFalse(summarize.is_allowed(name, why), f"{name}: {why}")


class SecondRun(unittest.TestCase):
    """Of a test that failed in the first."""

    def run_of(self, second):
        """(exit status, what is printed), if the second run of e2e.t101_a is `second`: "passed", "failure" or "skipped"."""
        with tempfile.TemporaryDirectory() as build, contextlib.redirect_stdout(io.StringIO()) as printed, \
                mock.patch.object(summarize, "labels_of_tests", return_value={}), mock.patch.object(sys, "argv", ["summarize.py", build]):
            for name, mark in (("tests.xml", "failure"), ("tests_again.xml", second)):
                root = xml.Element("testsuite")
                case = xml.SubElement(root, "testcase", name="e2e.t101_a", time="1")
                if mark != "passed":
                    xml.SubElement(case, mark)
                xml.ElementTree(root).write(Path(build) / name)
            return summarize.main(), printed.getvalue()

    def test_that_passes_is_said(self):
        status, printed = self.run_of("passed")
        self.assertEqual(status, 0)
        self.assertIn("Failed: 1, 1 of them passed when run again, alone\n\n  e2e.t101_a failed once, then passed:", printed)

    def test_that_fails_again_is_left_to_ctest(self):
        status, printed = self.run_of("failure")
        self.assertEqual(status, 0)
        self.assertIn("Failed: 1, 0 of them passed when run again, alone\n\n  e2e.t101_a failed:", printed)

    def test_that_is_skipped_has_not_passed(self):
        status, printed = self.run_of("skipped")
        self.assertEqual(status, 1)
        self.assertIn("Failed: 1, 0 of them passed when run again, alone\n\n  e2e.t101_a failed once, then was skipped:", printed)


if __name__ == "__main__":
    unittest.main()
