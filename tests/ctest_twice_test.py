# SPDX-License-Identifier: Apache-2.0
"""What tests/ctest_twice runs a second time, and its exit status, with tests of ctest that fail once or always."""

import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

SCRIPT = Path(__file__).with_name("ctest_twice")
HOUR_LONG = ("sanitize.asan", "sanitize.asan_whole", "sanitize.tsan", "harmless.cpython_whole", "lint.tidy_all", "fuzz.build")
ONCE = "test -e $0 || { touch $0; exit 1; }"


class SecondRun(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.build = Path(holder.name)
        self.labels = {}

    def run_of(self, *options, once=(), always=()):
        """(exit status, the names of the tests that ran again) of a build with the tests `good`, `once` and `always`, named as they fail."""
        tests = [("good", "true")] + [(name, ONCE) for name in once] + [(name, "false") for name in always]
        lines = [f'add_test("{name}" "sh" "-c" "{script}" "{self.build}/ran_{number}")' for number, (name, script) in enumerate(tests)]
        lines += [f'set_tests_properties("{name}" PROPERTIES LABELS {label})' for name, label in self.labels.items()]
        (self.build / "CTestTestfile.cmake").write_text("\n".join(lines).replace("$0", "\\$0"), encoding="utf-8")
        for left in self.build.glob("ran_*"):
            left.unlink()
        environment = os.environ | {"CTEST_PARALLEL_LEVEL": "4"}
        done = subprocess.run([SCRIPT, self.build, *options], env=environment, capture_output=True, text=True, check=False)
        report = self.build / "tests_again.xml"
        return done.returncode, [case.get("name") for case in xml.parse(report).getroot().findall("testcase")] if report.exists() else []

    def test_is_not_made_where_all_passed(self):
        self.assertEqual(self.run_of(), (0, []))

    def test_decides_about_up_to_three_that_failed(self):
        self.assertEqual(self.run_of(once=["a", "b/c  # GetParam() = 1", "d"]), (0, ["a", "b/c  # GetParam() = 1", "d"]))
        self.assertEqual(self.run_of(once=["a"], always=["b"]), (8, ["a", "b"]))
        self.assertEqual(self.run_of(once=["a", "b", "c", "d"]), (8, []))

    def test_is_of_the_same_tests_if_others_are_left_out(self):
        self.assertEqual(self.run_of("-E", "good", once=["a"], always=[]), (0, ["a"]))
        self.assertEqual(self.run_of("-LE", "^x$", "-E", "good|a", once=["a", "b"], always=["c"]), (8, ["b", "c"]))

    def test_is_of_the_same_tests_where_labels_or_names_choose_them(self):
        self.labels = {"good": "second"}
        self.assertEqual(self.run_of("-LE", "^second$", once=["a"]), (0, ["a"]))
        self.assertEqual(self.run_of("-LE", "^second$", always=["a"]), (8, ["a"]))
        self.labels = {"b": "chosen"}
        self.assertEqual(self.run_of("-L", "^chosen$", once=["a"], always=["b"]), (8, ["b"]))
        self.assertEqual(self.run_of("-R", "^b$", once=["a", "b"]), (0, ["b"]))

    def test_is_not_made_where_no_test_was_found(self):
        self.assertEqual(self.run_of(once=["a"])[0], 0)
        self.assertEqual(self.run_of("-R", "no such test", once=["a"]), (8, []))

    def test_leaves_out_what_takes_an_hour(self):
        for name in HOUR_LONG:
            self.assertEqual(self.run_of(once=[name]), (8, []), name)
            self.assertEqual(self.run_of(once=["a", name]), (8, ["a"]), name)
        for name in ("lint.tidy", "harmless.cpython", "fuzz.build_of_another"):
            self.assertEqual(self.run_of(once=[name]), (0, [name]), name)


if __name__ == "__main__":
    unittest.main()
