# SPDX-License-Identifier: Apache-2.0
"""Each row of the table in runner/commands/README.md: limits, folders and memory that mlrun lacks. The command runs
with its own output, limits and status, either untraced with one line and nothing left behind, or traced; mlrun refuses
only what the user has to decide."""

import os
import resource
import subprocess
from pathlib import Path

from lib import case

NOBODY = 65534
KIB, MIB = 1 << 10, 1 << 20
RAN = 'echo ran; ulimit -n; ulimit -v; ulimit -d; ulimit -s; ulimit -f; exit 7'


def limited(**limits):
    """Hard limits without the privilege to raise them, as for an ordinary user."""
    def before_exec():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    return before_exec


# name: (limits, what may come of it)
LIMITS = {
    "6 descriptors": ({"NOFILE": 6}, "untraced"),
    "8 descriptors": ({"NOFILE": 8}, "untraced"),
    "9 descriptors": ({"NOFILE": 9}, "untraced"),
    "64 descriptors": ({"NOFILE": 64}, "traced"),
    "1 MiB of data": ({"DATA": 1 * MIB}, "untraced"),
    "4 MiB of data": ({"DATA": 4 * MIB}, "either"),
    "20 MiB of data": ({"DATA": 20000 * KIB}, "either"),
    "40 MiB of address space": ({"AS": 40 * MIB}, "untraced"),
    "files of 0 bytes": ({"FSIZE": 0}, "untraced"),
    "files of 1 MiB": ({"FSIZE": 1 * MIB}, "untraced"),
    "a stack of 32 KiB": ({"STACK": 32 * KIB}, "traced"),
    "a stack of 64 KiB": ({"STACK": 64 * KIB}, "traced"),
    "no locked memory": ({"MEMLOCK": 0}, "traced"),
    "no queued signals": ({"SIGPENDING": 0}, "traced"),
}


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("mlrun: ")]


def run(this, out, before_exec, options=(), cwd=None, environment=None):
    command = [str(case.MLRUN), "--preload", "--quiet", *(["-o", str(out)] if out else []), *options, "--", "/bin/sh", "-c", RAN]
    return this.run(*command, preexec_fn=before_exec, cwd=cwd or this.folder, env=environment or this.environment)


def expect(this, name, done, plain, out, wanted):
    this.equal(f"{name}: exit status", done.returncode, 7, said=done.stderr)
    this.equal(f"{name}: output", done.stdout, plain.stdout, said=done.stderr)
    said = lines_of(done.stderr)
    untraced = len(said) == 1 and "running the command without recording" in said[0]
    if wanted == "untraced":
        this.true(f"{name}: one line that says that it runs without recording", untraced, done.stderr)
    if wanted == "traced":
        this.true(f"{name}: a trace", (out / "run.json").exists(), done.stderr)
    kept = len(said) == 1 and "mlrun recover" in said[0] and (out / "spool.bin").exists()
    whole = not said and (out / "run.json").exists()
    this.true(f"{name}: nothing left, a whole trace, or one that can be recovered", not os.path.exists(out) if untraced else kept or whole, done.stderr)


def under_limits(this):
    for number, (name, (limits, wanted)) in enumerate(LIMITS.items()):
        before_exec, out = limited(**limits), this.folder / f"limits{number}"
        plain = this.run("/bin/sh", "-c", RAN, preexec_fn=before_exec)
        expect(this, name, run(this, out, before_exec), plain, out, wanted)


def soft_limits_of_our_own(this):
    """They are raised for mlrun and the merge; the command has them as they were."""
    def soft():
        for name, value in (("NOFILE", 8), ("DATA", 20000 * KIB), ("FSIZE", 0)):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]))
    plain = this.run("/bin/sh", "-c", RAN, preexec_fn=soft)
    out = this.folder / "soft"
    expect(this, "soft limits", run(this, out, soft), plain, out, "traced")


def processes(this):
    """A user without a process to spare. Root has no such limit."""
    before_exec = limited(NPROC=1)
    done = this.run(str(case.MLRUN), "--preload", "--quiet", "-o", this.folder / "processes", "--", "/bin/echo", "ran", preexec_fn=before_exec)
    this.equal("no processes: status and output", (done.returncode, done.stdout), (0, "ran\n"), said=done.stderr)
    this.equal("no processes: lines", len(lines_of(done.stderr)), 1, said=done.stderr)
    this.true("no processes: no folder", not (this.folder / "processes").exists())


def folders(this):
    plain = this.run("/bin/sh", "-c", RAN, preexec_fn=limited())
    closed = this.folder / "closed"
    closed.mkdir(mode=0o555)
    for name, out, cwd in (("a folder that is not writable", closed / "t", None), ("no writable working folder", None, closed),
                           ("a folder below a file", this.folder / "data.bin" / "t", None),
                           ("a name that is too long", this.folder / ("x" * 300), None)):
        this.data_file()
        done = run(this, out, limited(), cwd=cwd)
        expect(this, name, done, plain, out or closed / "mlrun-sh-1", "untraced")
    without = {key: value for key, value in this.environment.items() if key not in ("HOME", "TMPDIR", "TMP", "XDG_CACHE_HOME")}
    expect(this, "no HOME, no TMPDIR", run(this, this.folder / "bare", limited(), environment=without), plain, this.folder / "bare", "traced")


def refused(this):
    """What the user can correct at once, before hours of an untraced run."""
    taken = this.folder / "taken"
    taken.mkdir()
    (taken / "mine").touch()
    unwritable = this.folder / "closed" / "t"
    for name, out, options in (("-o that holds something", taken, ()), ("-o that is a file", this.folder / "data.bin", ()),
                               ("=require without a place for the trace", unwritable, ("--preload=require",))):
        command = [str(case.MLRUN), "--quiet", *(options or ("--preload",)), "-o", out, "--", "/bin/sh", "-c", RAN]
        done = this.run(*command, preexec_fn=limited())
        this.equal(f"{name}: status and output", (done.returncode, done.stdout), (125, ""), said=done.stderr)
        this.equal(f"{name}: lines", done.stderr.count("\n"), 1, said=done.stderr)


def full_disks(this):
    """In a mount namespace: a full file system for the trace, and no /dev/shm."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        return
    script = ('mount -t tmpfs -o size=64k tmpfs /mnt && chmod 777 /mnt && { cat /dev/zero >/mnt/full 2>/dev/null; cd /mnt; '
              'mlrun="$1"; shift; "$mlrun" --preload --quiet -o /mnt/t -- "$@"; status=$?; ls /mnt >&2; exit $status; }')
    done = this.run("unshare", "-m", "sh", "-c", script, "sh", case.MLRUN, "/bin/sh", "-c", "echo ran; exit 7")
    this.equal("a full disk", (done.returncode, done.stdout), (7, "ran\n"), said=done.stderr)
    this.true("a full disk: one line, nothing left", [*done.stderr.splitlines()[1:]] == ["full"] and "without recording" in done.stderr, done.stderr)
    out = this.new_trace()
    script = 'mount -t tmpfs -o ro tmpfs /dev/shm && exec "$@"'
    done = this.run("unshare", "-m", "sh", "-c", script, "sh", *this.command("/bin/sh", "-c", "echo ran; exit 7", out=out))
    this.equal("a closed /dev/shm", (done.returncode, done.stdout, (out / "run.json").exists()), (7, "ran\n", True), said=done.stderr)


# None: a test that runs at the same time has removed it.
def owner(path):
    try:
        return path.stat().st_uid
    except FileNotFoundError:
        return None


def check(this):
    os.chmod(this.folder, 0o777)
    before = set(os.listdir("/dev/shm"))
    under_limits(this)
    soft_limits_of_our_own(this)
    processes(this)
    folders(this)
    refused(this)
    full_disks(this)
    left = [name for name in set(os.listdir("/dev/shm")) - before if name.startswith("mlrun-") and owner(Path("/dev/shm", name)) == NOBODY]
    this.true("shared memory that is left is that of runs to recover", len(left) <= 1, left)


if __name__ == "__main__":
    case.run(check)
