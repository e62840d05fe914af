# SPDX-License-Identifier: Apache-2.0
"""The workloads by themselves, untraced. Usage: workloads_test.py [CLASS]"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent


def run(*command):
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)


def make_kits(out, *options):
    return run(HERE / "make_kits.py", "--out", out, "--cases", "8", "--size", "24", *options)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.data = self.folder / "data"


class MakeKits(InTemporaryFolder):
    def test_the_same_options_make_the_same_bytes(self):
        other = self.folder / "other"
        self.assertEqual(make_kits(self.data).returncode, 0)
        self.assertEqual(make_kits(other).returncode, 0)
        self.assertEqual(contents(self.data), contents(other))
        self.assertEqual(len(contents(self.data)), 2 * 8 + 1)

    def test_an_existing_data_set_is_kept(self):
        make_kits(self.data)
        before = {path: path.stat().st_mtime_ns for path in self.data.iterdir()}
        make_kits(self.data)
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in self.data.iterdir()})

    def test_other_options_replace_it(self):
        make_kits(self.data)
        before = contents(self.data)
        make_kits(self.data, "--seed", "2")
        self.assertNotEqual(before["case_00000_x.npy"], contents(self.data)["case_00000_x.npy"])
        self.assertEqual([self.data], list(self.folder.iterdir()))

    def test_a_folder_with_other_files_is_refused(self):
        self.data.mkdir()
        (self.data / "letter").write_text("dear")
        refused = make_kits(self.data)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("choose another --out", refused.stderr)
        self.assertEqual([self.data / "letter"], list(self.data.iterdir()))


class Train(InTemporaryFolder):
    def setUp(self):
        super().setUp()
        make_kits(self.data)
        self.log = self.folder / "train.log"

    def train(self, *options, launcher=()):
        done = run(*launcher, HERE / "train.py", "--data", self.data, "--quick", "--mllog", self.log, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.log.read_text().splitlines()
        self.assertEqual(lines, [line for line in done.stdout.splitlines() if line.startswith(":::MLLOG ")])
        return [json.loads(line.removeprefix(":::MLLOG ")) for line in lines]

    def check_epochs(self, events):
        starts = [(e["key"], e["metadata"].get("epoch_num")) for e in events if e["event_type"] == "INTERVAL_START"]
        ends = [(e["key"], e["metadata"].get("epoch_num")) for e in events if e["event_type"] == "INTERVAL_END"]
        self.assertEqual(starts, [("init_start", None), ("run_start", None), ("epoch_start", 1), ("eval_start", 1),
                                  ("epoch_start", 2), ("eval_start", 2)])
        self.assertEqual(ends, [("init_stop", None), ("epoch_stop", 1), ("eval_stop", 1), ("epoch_stop", 2),
                                ("eval_stop", 2), ("run_stop", None)])
        self.assertEqual([e["time_ms"] for e in events], sorted(e["time_ms"] for e in events))

    def scores(self, events):
        return [e["value"] for e in events if e["key"] in ("train_loss", "eval_accuracy")]

    def test_forked_workers_train_and_a_seed_repeats_the_training(self):
        checkpoints = self.folder / "checkpoints"
        first = self.train("--checkpoint-dir", checkpoints, "--checkpoint-epochs", "1,2")
        self.check_epochs(first)
        self.assertEqual(sorted(path.name for path in checkpoints.iterdir()), ["epoch_001.pt", "epoch_002.pt"])
        self.assertEqual(self.scores(first), self.scores(self.train()))
        self.assertNotEqual(self.scores(first), self.scores(self.train("--seed", "2")))

    def test_spawned_workers_train(self):
        self.check_epochs(self.train("--start-method", "spawn", "--workers", "2", "--eval-workers", "1"))

    def test_two_ranks_train(self):
        events = self.train("--workers", "1",
                            launcher=("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"))
        self.check_epochs(events)
        self.assertEqual([e["value"] for e in events if e["key"] == "global_batch_size"], [4])

    def test_a_folder_without_cases_is_one_clear_error(self):
        refused = run(HERE / "train.py", "--data", self.folder / "nothing")
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
        self.assertIn("make_kits.py --out", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
