# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` installs works by itself, wherever it is moved to.

Usage: installed_test.py CMAKE BUILD
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, BUILD = sys.argv.pop(1), sys.argv.pop(1)
OF_PYPI = """#!/usr/bin/python3
import sys
from mlrun.__main__ import main
sys.exit(main())
"""


def run(*words, cwd=None, **variables):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=cwd, env={**os.environ, **variables})


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="mlrun-installed.")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = Path(cls.scratch.name)
        done = run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        assert done.returncode == 0, done.stderr
        cls.prefix = (cls.folder / "first").rename(cls.folder / "moved")
        cls.mlrun = cls.prefix / "bin" / "mlrun"

    def test_every_program_and_library_is_installed(self):
        for pattern in ("bin/mlrun*", "lib/libmlrun_*.so"):
            built = {path.name for path in Path(BUILD).glob(pattern)}
            self.assertEqual(built, {path.name for path in self.prefix.glob(pattern)})

    def test_a_run_has_a_summary(self):
        done = run(self.mlrun, "-o", self.folder / "trace", "ls", "/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\ncomplete: nothing lost", done.stderr)

    def test_programs_use_no_library_of_the_build(self):
        for program in (self.prefix / "bin").iterdir():
            self.assertNotIn(str(Path(BUILD).resolve()), run("ldd", program).stdout, program.name)

    def test_nothing_is_written_outside_its_folder_and_the_trace(self):
        places = {name: self.folder / name for name in ("home", "temporary", "here")}
        for place in places.values():
            place.mkdir()
        variables = {"HOME": str(places["home"]), "TMPDIR": str(places["temporary"]), "MLRUN_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1",
                     "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""}
        begun = {path: path.stat().st_ctime_ns for path in (places["home"], *self.prefix.rglob("*"))}
        verbs = (("--python-stacks", "-o", "trace", "ls", "/"), ("report", "trace"), ("show", "trace", "call"), ("doctor",),
                 ("plot", "trace", "--what", "sizes", "-o", "trace/sizes.png"), ("list",))
        for words in verbs:
            done = run(self.mlrun, *words, cwd=places["here"], **variables)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        self.assertEqual([path.name for path in places["here"].iterdir()], ["trace"])
        self.assertEqual([list(places[name].iterdir()) for name in ("home", "temporary")], [[], []])
        now = {path: path.stat().st_ctime_ns for path in (places["home"], *self.prefix.rglob("*"))}
        changed = {path.name for path in now if now[path] != begun.get(path)}
        self.assertLessEqual(changed, {"mlrun-cost.json", "lib"}, "installed, home and what was made there and removed")

    def test_pictures_come_from_the_installed_package(self):
        done = run(self.mlrun, "plot", "--help", MLRUN_PYTHON=sys.executable)
        self.assertEqual(done.returncode, 0, done.stderr)
        place = run(sys.executable, "-c", "import mlrun_trace; print(mlrun_trace.__file__)", PYTHONPATH=str(self.prefix / "lib/python"))
        self.assertIn(str(self.prefix), place.stdout, place.stderr)

    def test_files_that_pip_leaves_out_of_a_target_folder_are_named(self):
        target = self.folder / "target"
        shutil.copytree(self.prefix / "bin", target / "bin")
        (target / "mlrun_trace").mkdir()
        done = run(target / "bin" / "mlrun", "--quiet", "-o", self.folder / "untraced", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pip install --target leaves it out", done.stderr)

    def test_sweeps_find_their_program(self):
        done = run(self.mlrun, "sweep", "--help")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_doctor_names_the_other_project(self):
        other = self.folder / "other" / "mlrun"
        other.parent.mkdir()
        other.write_text(OF_PYPI)
        other.chmod(0o755)
        self.assertIn("another project", self.command_line_of_doctor(f"{other.parent}:{os.environ['PATH']}"))
        self.assertNotIn("another", self.command_line_of_doctor(f"{self.prefix}/bin:{other.parent}:{os.environ['PATH']}"))

    def command_line_of_doctor(self, path):
        """Its lines from "command" to the next check, as one."""
        said = run(self.mlrun, "doctor", PATH=path).stdout
        return " ".join(said.partition(" command ")[2].partition(" library ")[0].split())


if __name__ == "__main__":
    unittest.main()
