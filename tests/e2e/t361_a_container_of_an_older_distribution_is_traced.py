# SPDX-License-Identifier: Apache-2.0
"""In a root folder with an older glibc, where the library and the buffer are bind-mounted, programs run as untraced and
every call is recorded. Without the library they run without a message, and coverage names them."""

import os
from collections import Counter

from lib import case, issued, serials
from lib.trace import Trace

CALLS = 5000
# In a mount namespace of its own: the folder of the library, shared memory and the case's folder under their own names.
BIND = """
bind() { mkdir -p "$SYSTEM$1" && mount --bind "$1" "$SYSTEM$1"; }
bind "$FOLDER" && bind /dev/shm && mount -t proc proc "$SYSTEM/proc" && mount --bind /dev/null "$SYSTEM/dev/null" &&
  if [ -n "$LIBRARY" ]; then bind "$LIBRARY"; fi && exec "$@"
"""
PYTHON = "import os; print(sum(len(open('/usr/lib/os-release').read()) for _ in range(50)), os.system('echo sub'))"
COMMANDS = (("sh", "-c", "for i in 1 2 3; do echo $i; done | sort -r; cat /usr/lib/os-release | wc -l; ls /nowhere"),
            ("python3", "-c", PYTHON), ("perl", "-e", 'print `echo sub`; print scalar(<STDIN>) // "end\n"'),
            ("tar", "-cf", "/dev/null", "/usr/share/base-files"), ("dpkg", "-l"), ("find", "/usr/share/perl5"))


def check(this):
    system = os.environ.get("MLRUN_OLDER_SYSTEM")
    if not system:
        raise case.Skip("needs MLRUN_OLDER_SYSTEM, which tests/bare/older_glibc.sh makes")
    case.need_mounts()
    library = case.BUILD / "lib"
    bound = {"SYSTEM": system, "FOLDER": str(this.folder), "LIBRARY": str(library)}
    inside = ("chroot", system)

    def run(command, env, status=0, options=None):
        out = this.new_trace()
        whole = command if options is None else this.command(*command, out=out, options=options)
        done = this.run("unshare", "-m", "/bin/sh", "-c", BIND, "sh", *whole, env=this.environment | env)
        if status is not None:
            this.equal(f"status of {command}", done.returncode, status, said=done.stderr)
        return Trace(out), done

    data, progress = this.data_file(), this.path("progress")
    for end, status in (("exit", 7), ("_exit", 7), ("abort", 134), ("kill", 137)):
        trace, _ = run((*inside, "/victims/numbered", data, CALLS, end), bound, status, ())
        serials.expect_threads(this, trace.serials(data), [CALLS])
    for victim, *arguments in (("issues_threads", 50, 200, 20), ("issues_forks", 50, 40, 0), ("issues_ends", CALLS, "_exit")):
        progress.write_bytes(bytes(issued.SLOT.size * issued.SLOTS))
        trace, _ = run((*inside, f"/victims/{victim}", data, progress, *arguments), bound, 7 if "_exit" in arguments else 0,
                       ("--lossless", "--alloc-min", "0"))
        reported = issued.read(progress)
        issued.expect_exact(this, issued.recorded_calls(trace, data) + issued.listed_allocations(trace), reported)
    for command in (*COMMANDS, ("/victims/jumps_out", data, 50), ("/victims/vfork_storm", 20, data)):
        _, plain = run((*inside, *command), bound, None)
        trace, traced = run((*inside, *command), bound, None, ())
        this.equal(f"what {command} does", (traced.returncode, traced.stdout, traced.stderr),
                   (plain.returncode, plain.stdout, plain.stderr))
        images = Counter(image["exe"] for image in trace.rows("image"))
        this.true(f"{command} was recorded", len(images) > 1, images)

    trace, done = run((*inside, "sh", "-c", "echo alone; exit 3"), bound | {"LIBRARY": ""}, 3, ())
    this.equal("without the library", (done.stdout, done.stderr), ("alone\n", ""))
    this.true("coverage names it", trace.covers("cannot reach the library"), trace.rows("coverage"))


if __name__ == "__main__":
    case.run(check)
