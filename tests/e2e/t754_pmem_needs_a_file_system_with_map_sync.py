# SPDX-License-Identifier: Apache-2.0
"""--pmem on a file system without MAP_SYNC, in a path that is not a folder, with more than there is, without a rule, and a rule without it: one
clear line, status 125, the command is not started. Persistent memory itself: tests/vm/placement/pmem_check.py."""

from lib import case

RULE = ("--place", "size >= 1M -> pmem")


def refused(this, said, *options, shell=()):
    out = this.new_trace()
    done = this.run(*shell, case.MLRUN, "run", "-o", out, *options, "--", "touch", this.path("ran"))
    this.equal(f"status of {options}", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
    this.true(f"{options}: says {said!r}", said in done.stderr, done.stderr)
    this.true("nothing is left", not out.exists() and not this.path("ran").exists())


def check(this):
    folder, file = this.path("folder"), this.path("file")
    folder.mkdir()
    file.write_text("")
    for place in (folder, "/dev/shm", f"{folder}:1M"):
        refused(this, "no MAP_SYNC", "--pmem", place, *RULE)
        refused(this, "-> dax-kmem", "--pmem", place, *RULE)
    this.equal("no file is left", list(folder.iterdir()), [])
    limited = ("bash", "-c", 'ulimit -Sf 1000000; exec "$@"', "bash")
    refused(this, "(ulimit -f) are too small", "--pmem", folder, *RULE, shell=limited)
    refused(this, "is no folder", "--pmem", file, *RULE)
    refused(this, "No such file or directory", "--pmem", this.path("none"), *RULE)
    refused(this, "No such file or directory", "--pmem", f"{folder}:many", *RULE)
    refused(this, "a size below 4096 bytes", "--pmem", f"{folder}:1K", *RULE)
    refused(this, "free, and", "--pmem", f"{folder}:900T", *RULE)
    refused(this, "no rule has the target pmem", "--pmem", folder)
    refused(this, "no rule has the target pmem", "--pmem", folder, "--place", "-> default")
    refused(this, "add --pmem DIR", *RULE)
    for rule, said in (("mmap size >= 1M -> pmem", "only blocks can have the target pmem"), ("-> pmem strict", "names none"), ("-> pmem huge", "leave out 'huge'"),
                       ("-> pmem heap memkind budget 64M", "cannot have the target pmem")):
        refused(this, said, "--pmem", folder, "--place", rule)


if __name__ == "__main__":
    case.run(check)
