# SPDX-License-Identifier: Apache-2.0
"""A program linked with old symbol versions of libc functions behaves traced as untraced, which differs from the
current versions (except lio_listio in glibc 2.36), and its calls are recorded."""

import errno

from lib import case

# By function: the result of the old version, and of the current one.
ANSWERS = {
    "posix_spawn": (0, errno.ENOEXEC), "posix_spawnp": (0, errno.ENOEXEC), "realpath": (errno.EINVAL, 0),
    "glob": (3, 0), "glob64": (3, 0),  # 3: GLOB_NOMATCH
    "nftw": (0, errno.EINVAL), "nftw64": (0, errno.EINVAL),
    "timed wait": (errno.ETIMEDOUT, errno.ETIMEDOUT), "wait": (0, 0), "bytes behind it that are as they were": (40, 0),
    "lio_listio": (1, 1), "lio_listio64": (1, 1)}
ROWS = {"posix_spawn": 2, "realpath": 1, "glob": 2, "pthread_cond_timedwait": 1, "lio_listio": 2}


def answers(text):
    return {what: int(number) for what, _, number in (line.rpartition(": ") for line in text.splitlines())
            if number.isdigit()}


def check(this):
    folder = this.path("folder")
    folder.mkdir()
    (folder / "script").write_text("echo by the shell\n")
    (folder / "script").chmod(0o755)
    (folder / "nowhere").symlink_to("no such file")
    for which, name in enumerate(("old_versions", "new_versions")):
        plain = this.run(this.victim(name), folder)
        this.equal(f"status of {name}", plain.returncode, 7, said=plain.stderr)
        this.equal(f"what {name} does untraced", answers(plain.stdout), {what: pair[which] for what, pair in ANSWERS.items()})
        this.equal("scripts that the shell executed", plain.stdout.count("by the shell"), (2, 0)[which])
        this.equal("thread-local objects destroyed by quick_exit", plain.stdout.count("destroyed"), (1, 0)[which])
        trace = this.untraced_and_traced(this.victim(name), folder)
        this.equal(f"rows of {name}", {func: len(trace.calls_of(func)) for func in ROWS}, ROWS)
        this.true("the wait is recorded", trace.calls_of("pthread_cond_wait"))


if __name__ == "__main__":
    case.run(check)
