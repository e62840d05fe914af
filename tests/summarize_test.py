# SPDX-License-Identifier: Apache-2.0
"""Reasons of skipped tests, as each kind of test prints them, and which of them may be."""

import sys
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

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
                          ("preload_limits.Restriction.DoesNotStopRecording/nobody  # GetParam() = \"nobody\"", "needs root")):
            self.assertTrue(summarize.is_allowed(name, why), name)

    def test_nothing_else(self):
        for name, why in (("e2e.t905_a", ""), ("e2e.t905_a", "by tracepoint: processes"), ("gpu.g502_a", "needs time"), ("e2e.t101_a", self.RIGHTS),
                          ("gpu.g502_a", "the kernel refused the BPF programs: Invalid argument (libbpf: prog 'on_wait': bad map)"),
                          ("vm.split_on_6.1", "the guest said nothing"), ("preload_exec.Target.OfAnotherSessionIsNested", "needs root")):
            self.assertFalse(summarize.is_allowed(name, why), f"{name}: {why}")


if __name__ == "__main__":
    unittest.main()
