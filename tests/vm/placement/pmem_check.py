# SPDX-License-Identifier: Apache-2.0
"""In a guest with an NVDIMM: --pmem on ext4 with -o dax. Programs end as they do untraced, those that fork too; their blocks are in a file of
the folder, which is gone behind them; a size and a full file system send the rest to the allocator. Then the NVDIMM becomes a node, and
dax-kmem is that of memkind. Usage: pmem_check.py BUILD PYTHON"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD, PYTHON = Path(sys.argv[1]), sys.argv[2]
MLRUN, NODES, VICTIMS = BUILD / "bin" / "mlrun", BUILD / "vm" / "nodes", BUILD / "e2e" / "victims"
FOLDER = Path("/mnt/pmem")
MIB = 1 << 20
failed = []

WHERE = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
size = 24 << 20
block = libc.malloc(size)
ctypes.memset(block, 65, size)
free = os.statvfs("/mnt/pmem")
for line in open("/proc/self/maps"):
    low, high = (int(word, 16) for word in line.split()[0].split("-"))
    if low <= block < high: print("file" if "/mnt/pmem" in line and "deleted" in line else line.strip())
print((free.f_blocks - free.f_bfree) * free.f_frsize >> 20)
sys.stdout.flush()
read, write = os.pipe()
child = os.fork()
if child == 0:
    ctypes.memset(block, 66, size)
    os.write(write, ctypes.string_at(block + size - 1, 1))
    os._exit(0)
os.waitpid(child, 0)
print(os.read(read, 1), ctypes.string_at(block, size).strip(b"A"))
"""

LOADER = """
import multiprocessing, numpy
def work(number):
    table[number * 1000:(number + 1) * 1000] += 1
    return float(table.sum())
if __name__ == "__main__":
    table = numpy.ones(1 << 20)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(6), chunksize=3), float(table.sum()))
"""


def expect(what, got, wanted=True, shown=""):
    print("right" if got == wanted else "WRONG", what, got if got is not True else "", "" if got == wanted else f"wanted {wanted}", shown, flush=True)
    if got != wanted:
        failed.append(what)


def used_mib():
    os.sync()
    space = os.statvfs(FOLDER)
    return (space.f_blocks - space.f_bfree) * space.f_frsize >> 20


def run(*command, pmem=str(FOLDER), rule="size >= 64K -> pmem", options=("--preload=off",)):
    """(status, standard output, standard error), and the rule's counts of the first process."""
    out = Path(tempfile.mkdtemp()) / "trace"
    done = subprocess.run([MLRUN, "run", "--quiet", "--defer-merge", "-o", out, "--sample=off", "--python-stacks=off", *options, "--pmem", pmem, "--place", rule,
                           "--", *command], capture_output=True, text=True, check=False)
    session = out / "session.json"
    processes = json.loads(session.read_text())["placement"]["processes"] if session.exists() else []
    said = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("mlrun: the trace is not made yet"))
    return (done.returncode, done.stdout, said), [process["rules"][0] for process in processes]


def untraced(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def shell(line):
    subprocess.run(line, shell=True, check=True, stdout=subprocess.DEVNULL)


def set_up():
    shell("ndctl disable-namespace namespace0.0 >/dev/null 2>&1; ndctl create-namespace -f -e namespace0.0 -m fsdax -M mem")
    shell("mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/pmem0; mkdir -p /mnt/pmem; mount -o dax=always /dev/pmem0 /mnt/pmem")


def check_same_output():
    off = ("--preload=off",)
    victims = ((off, "places", "foreign", "nothing", "forks"), ((), "places", "foreign", "forks"), (off, "places", "busy_forks"), (off, "places", "confined"),
               (off, "places", "protects"), (off, "places_edges", "zero", "beside", "guards", "ends"), (off, "forks_with_handlers"),
               (off, "places_storm", "100", "3", "fork"), (off, "places", "aligned"))
    before = used_mib()
    for options, name, *words in victims:
        start = time.monotonic()
        said, counts = run(VICTIMS / name, *words, options=options)
        expect(f"{name} {words} {options}: as untraced", said, untraced(VICTIMS / name, *words))
        expect("its blocks are in the file", bool(counts) and counts[0]["matches"] > counts[0]["fallbacks"], shown=counts[:1])
        print(f"{time.monotonic() - start:.0f} s", flush=True)
    # The kernel does not count memory that is mapped directly as locked: the last block, which goes beyond the limit untraced, is there.
    said, _ = run(VICTIMS / "places", "locked")
    expect("locked memory", said, (0, "mlockall 0, blocks 1, zeros 1\ntoo much 1 errno 0\n", ""))
    expect("nothing is left in the folder", used_mib(), before)
    expect("no name either", [name for name in os.listdir(FOLDER) if name != "lost+found"], [])


def check_python():
    said, counts = run(PYTHON, "-c", WHERE, rule="size >= 16M -> pmem")
    lines = said[1].splitlines()
    expect("the block is in a file without a name", lines[:1], ["file"], said)
    expect("the file system has it", int(lines[1]) >= 24)
    expect("child and parent have their own", lines[2:], ["b'B' b''"])
    done = subprocess.run([MLRUN, "run", "-o", Path(tempfile.mkdtemp()) / "trace", "--preload=off", "--sample=off", "--python-stacks=off", "--pmem", FOLDER,
                           "--place", "-> pmem", "--", NODES, "block", str(16 * MIB)], capture_output=True, text=True, check=False)
    expect("the summary names the folder", f"in files in {FOLDER}" in " ".join(done.stderr.split()), True, "" if done.returncode == 0 else done.stderr)
    said, counts = run(PYTHON, "-c", LOADER)
    expect("a pool of forked workers with NumPy: as untraced", said, untraced(PYTHON, "-c", LOADER))
    expect("the table is in the file", counts[0]["peak_bytes"] >= 8 * MIB, shown=counts)


def check_limits():
    said, counts = run(NODES, "fill", str(64 * MIB), pmem=f"{FOLDER}:32M")
    expect("a limit of 32 MiB: runs", said[0], 0, said)
    expect("and is kept", 24 * MIB <= counts[0]["peak_bytes"] <= 32 * MIB and counts[0]["fallbacks"] >= 31, shown=counts)
    space = os.statvfs(FOLDER)
    with open(FOLDER / "ballast", "wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, space.f_bfree * space.f_frsize - 40 * MIB)
    for words in (("fill", str(120 * MIB)),):
        said, counts = run(NODES, *words)
        expect("a full file system: no signal", said[0], 0, said)
        expect("what does not fit is the allocator's", 20 <= counts[0]["matches"] - counts[0]["fallbacks"] <= 40, shown=counts)
    said, _ = run(VICTIMS / "places_storm", "100", "3", "fork")
    expect("nor wrong contents", said, (0, "bad=0 misaligned=0\n", ""))
    os.unlink(FOLDER / "ballast")


def check_fork_without_memory():
    """The child can have no copy: it gets a signal where it touches the block, not the parent's block."""
    program = ("import ctypes, os, resource\n"
               "libc = ctypes.CDLL(None); libc.malloc.restype = ctypes.c_void_p; libc.malloc.argtypes = [ctypes.c_size_t]\n"
               "size = 64 << 20; block = libc.malloc(size); ctypes.memset(block, 65, size)\n"
               "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
               "resource.setrlimit(resource.RLIMIT_AS, (used + (20 << 20),) * 2)\n"
               "child = os.fork()\n"
               "if child == 0: ctypes.memset(block, 66, 4096); os._exit(0)\n"
               "print(os.waitpid(child, 0)[1], ctypes.string_at(block, 4))\n")
    said, _ = run(PYTHON, "-c", program, rule="size >= 16M -> pmem")
    expect("no memory for a copy: the child gets a signal", said[:2], (0, "11 b'AAAA'\n"), said)


def check_dax_kmem():
    shell("umount /mnt/pmem; ndctl create-namespace -f -e namespace0.0 -m devdax -M mem")
    for path, value in (("device_dax/unbind", "dax0.0"), ("kmem/new_id", "dax0.0")):
        Path("/sys/bus/dax/drivers", path).write_text(value, encoding="ascii")
    time.sleep(2)
    for block in Path("/sys/devices/system/node/node2").glob("memory[0-9]*"):
        if (block / "state").read_text().strip() == "offline":
            (block / "state").write_text("online_movable", encoding="ascii")

    def nodes(done):
        words = done.stdout.split()
        return [node for node, count in enumerate(map(int, words[1:4])) if count] if done.returncode == 0 and words[1:2] != ["absent"] else done
    ours = subprocess.run([MLRUN, "run", "--quiet", "--defer-merge", "-o", Path(tempfile.mkdtemp()) / "trace", "--sample=off", "--python-stacks=off", "--preload=off",
                           "--place", "-> dax-kmem", "--", NODES, "block", str(MIB)], capture_output=True, text=True, check=False)
    theirs = subprocess.run([NODES, "MEMKIND_DAX_KMEM", str(MIB)], capture_output=True, text=True, check=False)
    expect("dax-kmem: node 2", nodes(ours), [2])
    expect("dax-kmem, by memkind", nodes(theirs), [2])


def main():
    set_up()
    for check in (check_same_output, check_python, check_limits, check_fork_without_memory, check_dax_kmem):
        check()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
