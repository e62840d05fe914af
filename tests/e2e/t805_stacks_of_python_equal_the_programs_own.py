# SPDX-License-Identifier: Apache-2.0
"""For Python threads stopped at known places, in every installed version, the stack read from outside equals the
program's own, frame by frame: file, function, line."""

import json

from lib import case, pythons
from lib.python_stacks import WITNESS, PythonStacks, escaped

PARKED_S = 4  # a row of a sleeping thread covers up to a second

PROGRAM = WITNESS + """
import asyncio, ctypes, functools

gate = threading.Event()

def park():
    gate.wait()

def outer():
    def inner():
        park()
    inner()

def generates():
    yield 1
    park()
    yield 2

async def deeper():
    park()

async def awaits():
    await asyncio.sleep(0)
    await deeper()

def recurses(left):
    if left:
        recurses(left - 1)
    else:
        park()

class Owner:
    def method(self):
        return [park() for _ in range(1)]

    @property
    def value(self):
        return self.method()

    def __lt__(self, other):
        park()
        return True

def größe():
    (lambda: (
        1,
        park(),
    ))()

def far(code):
    for turn in range(3):
        if turn == 1:
            try:
                raise ValueError
            except ValueError:
                with threading.Lock():
                    code()

FAR = "def way():" + chr(10) * 400 + "    x = 1" + chr(10) * 9000 + "    park()" + chr(10)
def compiled(name, text):
    space = {"park": park}
    exec(compile(text, name, "exec"), space)
    return space["way"]

# References to objects that are never freed are marked from 3.14 on; _Py_SetImmortal does the same to an object.
def immortal():
    park()
if sys.version_info >= (3, 14):
    ctypes.c_uint64.from_address(id(immortal.__code__)).value |= 3 << 30 | 1 << 48

ways = [
    park, outer, lambda: list(generates()), lambda: asyncio.run(awaits()), lambda: recurses(200),
    lambda: Owner().value, lambda: sorted([Owner(), Owner()]), größe, lambda: far(park),
    lambda: functools.reduce(lambda a, b: park(), [1, 2]), compiled("<string>", FAR),
    compiled("/tmp/\\u65e5\\u672c/m\\u00f3dulo.py", FAR), compiled("/tmp/\\U0001f600.py", FAR),
    compiled("/tmp/caf\\u00e9.py", FAR), compiled(os.fsdecode(b"/tmp/caf\\xe9.py"), FAR),
    lambda: exec("park()"), lambda: eval("[park() for _ in (1,)]"), immortal,
]
threads = [threading.Thread(target=way) for way in ways]
for thread in threads:
    thread.start()

def settled():
    before = stacks_now()
    while True:
        time.sleep(0.05)
        now = stacks_now()
        same = all(now[thread.native_id] == before[thread.native_id] for thread in threads)
        if same and all(now[thread.native_id][2][1] == "park" for thread in threads):
            return now
        before = now

seen = settled()
begin = time.monotonic_ns()
time.sleep(float(sys.argv[1]))
end = time.monotonic_ns()
assert {thread.native_id: stacks_now()[thread.native_id] for thread in threads} == {
    thread.native_id: seen[thread.native_id] for thread in threads}
gate.set()
for thread in threads:
    thread.join()
print(json.dumps([begin, end, {thread.native_id: seen[thread.native_id] for thread in threads}]))
"""


def check_version(this, version, python):
    program = this.path("program.py")
    program.write_text(PROGRAM, encoding="utf-8")
    trace = this.trace(python, program, PARKED_S, options=["--python-stacks=10"])
    begin, end, seen = json.loads(trace.stdout)
    stacks = PythonStacks(trace)
    this.equal(f"threads of {version}", len(seen), 18)
    rows = stacks.within(begin, end)
    for tid, wanted in seen.items():
        wanted = [[escaped(file), function, line] for file, function, line in wanted]
        mine = [row for row in rows if row["tid"] == int(tid)]
        this.true(f"{version}: samples of {wanted[3]}", mine)
        for row in mine:
            this.equal(f"{version}: a stack", stacks.steps(row), wanted[:128])
            ending = stacks.stacks.ends[row["stack_id"]]
            this.equal(f"{version}: where it ends", ending, "depth" if len(wanted) > 128 else "root")
            this.equal(f"{version}: asleep", row["running"], 0)
            this.equal(f"{version}: its line", row["python_line"],
                       f"{wanted[0][0].rsplit('/', 1)[-1]}:{wanted[0][2]} {wanted[0][1]}")
    this.true("one of them is deeper than what is read", max(map(len, seen.values())) > 200)
    missing = [row for row in trace.covers("Python stacks") if "samples were without some" not in row["detail"]]
    this.equal("no process is missing", missing, [])


def check(this):
    found = pythons.known()
    this.true("there is a Python that is known", found)
    for version, python in found.items():
        check_version(this, version, python)
    print("versions:", *(".".join(map(str, version)) for version in found))


if __name__ == "__main__":
    case.run(check)
