# SPDX-License-Identifier: Apache-2.0
"""Workers of multiprocessing, forked and spawned, and a program after exec: each is sampled, and while it is in its
loop every sample shows the loop and the state running."""

import json

from lib import case, pythons
from lib.python_stacks import PythonStacks

PROGRAM = """
import json, multiprocessing, os, sys, time

def twice(number):
    return number + number

def spins(answers, seconds):
    begin = time.monotonic_ns()
    end = begin + int(seconds * 1e9)
    while time.monotonic_ns() < end:  # loop
        twice(7)  # loop
    answers.put((os.getpid(), begin, end))

def main():
    context = multiprocessing.get_context(sys.argv[1])
    answers = context.Queue()
    workers = [context.Process(target=spins, args=(answers, float(sys.argv[2]))) for _ in range(2)]
    for worker in workers:
        worker.start()
    said = [answers.get() for _ in workers]
    for worker in workers:
        worker.join()
    print(json.dumps(said))

if __name__ == "__main__":
    main()
"""

EXECUTES = """
import os, sys, time
def before_exec():
    time.sleep(0.7)
def after_exec():
    time.sleep(0.7)
if len(sys.argv) == 1:
    before_exec()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
after_exec()
"""


def loop_lines(text):
    return {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# loop")}


def check_workers(this, python, way):
    program = this.path("program.py")
    program.write_text(PROGRAM, encoding="utf-8")
    trace = this.trace(python, program, way, 1.5, options=["--python-stacks=50"])
    stacks = PythonStacks(trace)
    processes = {row["proc_id"]: row["pid"] for row in trace.rows("process")}
    [double] = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("number + number")]
    for pid, begin, end in json.loads(trace.stdout):
        # A sample has the time of its begin: on a busy machine the loop may end before the stack is read.
        rows = [row for row in stacks.within(begin, end - 200_000_000) if row["pid"] == pid and row["tid"] == pid]
        this.true(f"samples of a worker by {way}", rows)
        running = 0
        for row in rows:
            steps = stacks.steps(row)
            own = [step for step in steps if step[0] == str(program)]
            if own[0][1] == "twice":
                this.true("the function that is called", own[0][2] in (double - 1, double), own)
                own = own[1:]
            this.equal("the loop", own[0][1], "spins")
            this.true("its lines", own[0][2] in loop_lines(PROGRAM), own)
            this.equal("whose it is", processes[row["proc_id"]], pid)
            running += row["running"] == 1
        this.true("it runs", running > len(rows) / 2, (running, len(rows)))
    [role] = {row["role"] for row in trace.rows("process") if row["pid"] == pid}
    top = [row for row in trace.rows("summary_python") if row["role"] == role and row["function"] in ("spins", "twice")]
    this.true("the summary's table has it", top and top[0]["source"] == str(program), top)
    said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says where", "WHERE PYTHON WAS" in said and "program.py:" in said, said)
    report = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    this.true("and for machines", any(row["function"] == "spins" for row in report["python"]), report["python"])


def check_exec(this, python):
    program = this.path("executes.py")
    program.write_text(EXECUTES, encoding="utf-8")
    stacks = PythonStacks(this.trace(python, program, options=["--python-stacks=50"]))
    functions = {function for row in stacks.rows for _, function, _ in stacks.steps(row)}
    this.true("both programs are seen", {"before_exec", "after_exec"} <= functions, functions)


def check(this):
    this.true("there is a Python that is known", pythons.known())
    for python in pythons.known().values():
        for way in ("fork", "spawn"):
            check_workers(this, python, way)
        check_exec(this, python)


if __name__ == "__main__":
    case.run(check)
