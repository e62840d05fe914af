# SPDX-License-Identifier: Apache-2.0
"""compare.py against a report and a truth that are written down here."""

import copy
import unittest

import compare

MS = 1_000_000
TRUTH = {
    "truth": "fork_decode", "expect": "data_transform_cpu", "accept": ["python_lock"], "then": [], "planted": "without_batch_ns",
    "begin_ns": 0, "end_ns": 1000 * MS, "loop_ns": 1000 * MS, "without_batch_ns": 700 * MS, "first_batch_ns": 100 * MS,
    "compute_ns": 300 * MS, "checkpoint_ns": 0, "logging_ns": 0, "loader_end_ns": 0, "steps": 4,
    "step_begin_ns": [100 * MS, 300 * MS, 500 * MS, 700 * MS]}


def finding(cause, explains_ms, **more):
    return {"cause": cause, "also": [], "explains_ns": explains_ms * MS, "share": explains_ms / 2000, "low": None, "high": None, **more}


REPORT = {
    "run": {"wall_ns": 2000 * MS}, "driver": {"waiting_ns": 580 * MS, "not_followed_ns": 20 * MS},
    "time": [{"activity": "startup", "state": "on_cpu", "ns": 1100 * MS, "share": 0.55}, {"activity": "wait", "state": "blocked", "ns": 580 * MS, "share": 0.29},
             {"activity": "compute", "state": "on_cpu", "ns": 320 * MS, "share": 0.16}],
    "without_batch_ns": 580 * MS, "without_batch_low_ns": None, "without_batch_high_ns": None, "findings": [finding("data_transform_cpu", 560), finding("not_followed", 20)],
    "steps": {"count": 4, "from": "batches"}}
BEGINS = [at * MS for at in (101, 300, 515, 745)]


class Compare(unittest.TestCase):
    def setUp(self):
        self.truth, self.report, self.begins = copy.deepcopy(TRUTH), copy.deepcopy(REPORT), BEGINS

    def row(self):
        return compare.compare(self.truth, self.report, self.begins)

    def test_the_first_batch_is_no_part_of_the_time_without_a_batch(self):
        self.assertAlmostEqual(self.row()["error_points"], -2)

    def test_waiting_for_another_rank_is_waiting(self):
        self.truth["collective_ns"] = 80 * MS
        self.assertAlmostEqual(self.row()["error_points"], -10)

    def test_a_report_that_cannot_tell_has_no_error(self):
        self.report["without_batch_ns"] = None
        self.assertIsNone(self.row()["error_points"])
        self.assertEqual(compare.summarize([self.row()], 5, 0.05)["within"], 0)

    def test_the_first_finding_decides(self):
        for first, verdict in ((finding("data_transform_cpu", 1), "planted"), (finding("python_lock", 1), "accepted"),
                               (finding("timer", 1, also=["data_transform_cpu"]), "also"), (finding("timer", 1), "wrong"),
                               (finding("timer", 1, also=["python_lock"]), "wrong"), (finding("not_followed", 1), "cannot tell")):
            self.report["findings"] = [first, finding("data_transform_cpu", 1)]
            self.assertEqual(self.row()["verdict"], verdict)
        self.report["findings"] = []
        self.assertEqual(self.row()["verdict"], "none")

    def test_time_that_does_not_add_up_is_reported(self):
        self.assertTrue(self.row()["adds_up"])
        self.report["time"][0]["ns"] += 3 * MS
        self.assertFalse(self.row()["adds_up"])

    def test_steps_are_counted_and_their_begins_compared(self):
        self.assertEqual((self.row()["steps"], self.row()["steps_near"]), (4, 0.75))
        self.report["steps"], self.begins = {"count": 0, "from": None}, []
        self.assertEqual((self.row()["steps"], self.row()["steps_near"]), (0, 0.0))
        self.assertEqual(compare.summarize([self.row()], 5, 0.05)["steps_exact"], 0)
        self.assertEqual(compare.summarize([self.row()], 5, 0.05)["steps_wrong"], 0)
        self.report["steps"]["count"] = 5
        self.assertEqual(list(compare.failures(compare.summarize([self.row()], 5, 0.05), {"steps_wrong": 0})),
                         ["steps_wrong is 1, the limit 0"])

    def test_waiting_without_a_cause_is_a_share_of_the_waiting(self):
        self.assertAlmostEqual(self.row()["not_followed"], 20 / 580)

    def test_the_interval_holds_the_time_without_a_batch(self):
        self.assertIsNone(self.row()["in_interval"])
        self.report |= {"without_batch_low_ns": 550 * MS, "without_batch_high_ns": 610 * MS}
        self.assertTrue(self.row()["in_interval"])
        self.report |= {"without_batch_low_ns": 550 * MS, "without_batch_high_ns": 590 * MS}
        self.assertFalse(self.row()["in_interval"])

    def test_two_faults_must_come_in_their_order(self):
        self.truth["then"] = ["checkpoint"]
        for causes, ordered in ((["data_transform_cpu", "checkpoint"], True), (["python_lock", "timer", "checkpoint"], True),
                                (["checkpoint", "data_transform_cpu"], False), (["data_transform_cpu"], False)):
            self.report["findings"] = [finding(cause, 1) for cause in causes]
            self.assertEqual(self.row()["in_order"], ordered)

    def test_a_healthy_program_has_no_other_finding_above_the_limit(self):
        self.truth |= {"expect": "compute_bound", "accept": []}
        for other_ms, passes in ((90, 1), (110, 0)):
            self.report["findings"] = [finding("compute_bound", 1500), finding("logging", other_ms)]
            self.assertEqual(compare.summarize([self.row()], 5, 0.05)["healthy"], passes)
        self.report["findings"].reverse()
        self.assertEqual(compare.summarize([self.row()], 5, 0.05)["healthy"], 0)

    def test_a_figure_that_misses_its_limit_is_a_failure(self):
        rows = [self.row(), {**self.row(), "verdict": "also", "error_points": 7.0}, {**self.row(), "verdict": "wrong"}, self.row()]
        figures = compare.summarize(rows, 5, 0.05)
        self.assertEqual((figures["first"], figures["within"], figures["confident_and_wrong"]), (0.625, 0.75, 1))
        self.assertEqual([text.split()[0] for text in compare.failures(figures, {"first": 0.6, "within": 0.8, "confident_and_wrong": 0})],
                         ["within", "confident_and_wrong"])


if __name__ == "__main__":
    unittest.main()
